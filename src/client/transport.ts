export interface HttpRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The whole body, decoded, without a byte order mark. */
  text: string;
  /** Of the body, decompressed. */
  bytes: number;
  /** Why the body could not be read: the status may still say enough. */
  bodyError?: Error;
  firstByteMs?: number;
}

/** How long one request may take, and how large its answer may be. */
export interface Limits {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: number;
  totalMs: number;
  maxBytes: number;
  signal: AbortSignal;
}

/** Sends one request: over the network, by `fetch`, to a sandbox in this process, or to a function of a test. Errors: `NetworkFailure`. */
export interface Transport {
  send: (request: HttpRequest, limits: Limits) => Promise<HttpResponse>;
  close: () => Promise<void>;
}

/** The limits of a call, unless others are given. */
export const usualLimits = {
  /** Until something comes: the connection, the first byte, the next one. */
  timeoutMs: 30_000,
  /** For the whole call, attempts and waits together. */
  maxTimeMs: 600_000,
  /** The longest `Retry-After` that is obeyed. */
  maxWaitMs: 60_000,
  /** The largest answer. */
  maxBodyBytes: 64 * 1024 ** 2,
} as const;

/** Milliseconds. */
export type TimeLimits = Record<'timeoutMs' | 'maxTimeMs', number>;

/** The longest timer of Node and browsers. */
export const maxTimerMs = 2 ** 31 - 1;
