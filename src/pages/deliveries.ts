/** What the page of deliveries asks for, and what it is told. */
import type { Retry } from '../lib/forward.ts';

export interface DeliveryRow {
  id: string;
  type: string;
  atMs: number;
  webhook: string;
  /** Who did what with which token. */
  about: string;
  status: 'forwarded' | 'waiting' | 'failed' | null;
}

/** A request that was answered 4xx or 503; kept for a while, never stored. */
export interface RefusedRow {
  number: number;
  atMs: number;
  method: string;
  path: string;
  status: number;
  reason: string;
}

/** The commands that give what a view shows. */
export interface ShownCommand {
  name: string;
  line: string;
}

export interface DeliveryList {
  rows: readonly DeliveryRow[];
  /** Whether older ones are stored too. */
  hasMore: boolean;
  commands: readonly ShownCommand[];
}

/** One thing that is checked of a signature; `ok` absent: it is told, not checked. */
export interface VerificationStep {
  name: string;
  text: string;
  ok?: boolean;
}

/** What came, whether it was stored or refused. */
export interface ShownRequest {
  atMs: number;
  headers: readonly { name: string; value: string }[];
  /** The first part of its bytes, in base64; `null` where they were not kept. */
  body: string | null;
  bodyBytes: number | null;
  verification: readonly VerificationStep[];
}

/** How a delivery stands at a target; `state` is `null` where it was not for it. */
export interface ShownForward {
  url: string;
  state: 'forwarded' | 'failed' | 'waiting' | null;
  /** Of the last try. */
  status: number | null;
  error: string | null;
  tries: number;
  ms: number | null;
  atMs: number | null;
  nextMs: number | null;
}

export interface ShownDelivery extends ShownRequest {
  row: DeliveryRow;
  /** Those that it was sent to, and the others that are known. */
  forwards: readonly ShownForward[];
  commands: readonly ShownCommand[];
  /** To pages of this server. */
  links: readonly { name: string; href: string }[];
}

export interface ShownRefusal extends ShownRequest {
  row: RefusedRow;
}

export interface PageFacts {
  inbox: string;
  /** Where deliveries are received. */
  listensOn: string;
  targets: readonly string[];
}

export interface PageStatus {
  stored: number;
  /** Deliveries that targets of this listener have not got yet, one counted for each target. */
  waiting: number;
  /** What is sent again just now. */
  retries: readonly Retry[];
}

export interface ReplayOutcome {
  taken: boolean;
  status: number | null;
  ms: number;
  error: string | null;
}
