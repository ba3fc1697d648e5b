/** What the page of deliveries asks for, and what it is told. */
import type { Forward, Retry } from '../model/forward.ts';

export interface DeliveryRow {
  id: string;
  type: string;
  atMs: number;
  webhook: string;
  /** Who did what with which token. */
  about: string;
  status: 'forwarded' | 'waiting' | 'refused' | null;
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

export interface ShownDelivery extends ShownRequest {
  row: DeliveryRow;
  forwards: readonly Forward[];
  commands: readonly ShownCommand[];
  /** To pages of this server. */
  links: readonly { name: string; href: string }[];
}

export interface ShownRefusal extends ShownRequest {
  row: RefusedRow;
}

export interface PageFacts {
  inbox: string;
  /** Where deliveries are received; `null` where this process does not listen. */
  listensOn: string | null;
  targets: readonly string[];
}

export interface PageStats {
  hours: readonly {
    /** Its start, Unix seconds. */
    hour: number;
    received: number;
    refusedSignatures: number;
    refused: number;
  }[];
  stored: number;
  forwarded: number;
  waiting: number;
  /** What is sent again just now. */
  retries: readonly Retry[];
  commands: readonly ShownCommand[];
}

export interface ReplayOutcome {
  taken: boolean;
  status: number | null;
  ms: number;
  error: string | null;
}
