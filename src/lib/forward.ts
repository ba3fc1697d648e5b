/** How a delivery ended at a target: accepted, or set aside. */
export interface Forward {
  url: string;
  outcome: 'forwarded' | 'failed';
  /** HTTP status of the last answer; `null` if there was none. */
  status: number | null;
  /** How long the last answer took. */
  ms: number;
  tries: number;
  error: string | null;
  atMs: number;
}

/** A delivery that a target does not accept at the moment; later ones of its webhook wait behind it. */
export interface Retry extends Pick<Forward, 'url' | 'status' | 'tries' | 'atMs'> {
  error: string;
  /** When it is sent again. */
  nextMs: number;
  webhook: string;
  seq: number;
  /** When the delivery came. */
  arrivedMs: number;
}
