import type { Forward } from '../inbox.ts';

/** A delivery on its way to the thread; the bodies of a batch travel beside it, one behind the other. */
export interface NewDelivery {
  webhook: string;
  atMs: number;
  eventIds: readonly string[];
  terms: readonly string[];
  headers: string;
  bodyBytes: number;
}

/** How far a target is in a webhook; `forward` is absent where deliveries were only skipped. */
export interface Mark {
  targetId: number;
  webhookId: number;
  webhook: string;
  seq: number;
  /** When the delivery came. */
  arrivedMs: number;
  forward?: Omit<Forward, 'url'>;
}

export interface Batch {
  deliveries: readonly NewDelivery[];
  marks: readonly Mark[];
  refusals: readonly { webhook: string; atMs: number; count: number }[];
}

/** For each delivery what it was stored as, with the ids that were new; `null` for a repeat. */
export type CommitResult = readonly ({ seq: number; newIds: readonly string[] } | null)[];
