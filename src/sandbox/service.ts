import type { WireNames } from '../api/endpoint.ts';
import type { Db } from './store.ts';

export interface Partner {
  id: string;
  /** Appended to names that this partner sets, e.g. `.alpha.test`. */
  suffix: string;
}

/** What a sandbox handler works with: the world, its time, and who is asking. */
export interface SandboxCall {
  db: Db;
  nowMs: number;
  partner: Partner;
  /** Absolute address of the request, for links in answers. */
  url: URL;
  /** Other names of parameters that this sandbox was started with; links in answers use them. */
  wire: WireNames;
}

/** A refusal of the sandbox: an HTTP status and the text of `{error}`. */
export class Refusal extends Error {
  readonly status: 400 | 401 | 404 | 409 | 413;
  constructor(status: 400 | 401 | 404 | 409 | 413, message: string) {
    super(message);
    this.status = status;
  }
}
