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
