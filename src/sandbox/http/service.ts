import type { WireNames } from '../../contract/endpoint.ts';
import type { Db } from '../db/store.ts';

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
  /** Notes a value of the request that changes nothing, such as `sections=x`, for the header and the log. */
  ignore: (what: string) => void;
}

type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 503;

/** A refusal of the sandbox: an HTTP status and the text of `{error}`. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: RefusalStatus, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
