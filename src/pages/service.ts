/** What the page of a service asks for, and what it is told. */

import type { ShownCommand } from './deliveries.ts';
import type { ServedTable } from './table.ts';

export interface ServiceFacts {
  /** Where the service is, or which sandbox it is. */
  service: string;
  /** How command lines for it begin, such as `sotra --sandbox`. */
  commandStart: string;
  isSandbox: boolean;
  /** Of the list of requests: what stands in its place while there are none, with a line that changes that, and the command that gives the same. */
  requests: { empty: string; line?: string; command: string };
  /** By endpoint, a command line that uses it. */
  examples: Readonly<Record<string, string>>;
}

/** An answer of an endpoint, and the commands that give the same. */
export interface CallOutcome<T> {
  data: T;
  /** The same as the terminal shows it: a table or a record, and what is shown below. */
  tables: readonly ServedTable[];
  commands: readonly ShownCommand[];
}

/** The clock of a sandbox, as `sotra sandbox status` prints it. */
export interface SandboxWorld {
  now: string;
  frozen: boolean;
}

export interface SandboxDelivery {
  seq: number;
  state: string;
  tries: number;
  status: number | null;
  error: string | null;
  type: string;
  atMs: number;
  eventId: string;
  uid: string;
  url: string;
  /** When it is sent next; `null` where it is not. */
  nextMs: number | null;
}

export interface ShownSandboxDelivery {
  row: SandboxDelivery;
  /** In base64. */
  body: string;
  bodyBytes: number;
}

export interface SandboxWebhook {
  uid: string;
  partner: string;
  url: string;
  /** How many it follows. */
  addresses: number;
  delivered: number;
  waiting: number;
  failed: number;
}
