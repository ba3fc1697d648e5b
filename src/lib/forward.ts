/** How a delivery ended at a target: taken, or refused and not sent to it again. */
export interface Forward {
  url: string;
  outcome: 'forwarded' | 'refused';
  /** HTTP status of the last answer; `null` where there was none. */
  status: number | null;
  /** How long the last answer took. */
  ms: number;
  tries: number;
  error: string | null;
  atMs: number;
}

/** A try that failed; the delivery is sent again. */
export interface FailedTry extends Pick<Forward, 'status' | 'tries' | 'atMs'> {
  error: string;
  /** When it is sent again. */
  nextMs: number;
}

/** What a target does not take at the moment: of each webhook the delivery that the others wait behind. */
export interface Retry extends FailedTry {
  url: string;
  webhook: string;
  seq: number;
  /** When the delivery came. */
  arrivedMs: number;
}
