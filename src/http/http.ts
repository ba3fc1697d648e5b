export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array>;
  /** Where the time went, as far as the transport can tell. */
  timing?: Timing;
}

/** Milliseconds of the parts of one exchange; a part that did not happen (a kept connection, an address without a name) is absent. */
export interface Timing {
  dnsMs?: number;
  /** Making the connection, its look-up and TLS included. */
  connectMs?: number;
  /** From sending to the first byte of the answer. */
  firstByteMs: number;
}

/** How long one exchange may take. */
export interface Limits {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: number;
  /** For all of it. */
  totalMs: number;
  signal: AbortSignal;
}

/** Sends one request and gives its answer as it arrives; the sandbox brings its own, tests too. */
export interface Transport {
  send: (request: HttpRequest, limits: Limits) => Promise<HttpAnswer>;
  close: () => Promise<void>;
}

type FailureKind = 'refused' | 'untrusted' | 'plain' | 'broken' | 'timeout' | 'late';

/**
 * An exchange that failed: `refused`, `untrusted` (a certificate) and `plain` (no TLS where it was wanted) surely never reached the service, the
 * others may have. `timeout`: nothing came for too long; `late`: all the time was used up.
 */
export class NetworkFailure extends Error {
  readonly kind: FailureKind;
  constructor(kind: FailureKind, message: string, cause: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** True for a host name that cannot leave this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
