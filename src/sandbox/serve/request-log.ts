import { isObject, tryParseJson } from '../../api/json.ts';
import { safeText } from '../../api/safe-text.ts';
import { hideSecrets } from '../../client/secrets.ts';
import { sandboxPartners } from '../db/world.ts';
import { type IncomingRequest, ignoredHeader, printable, readBearer } from '../service/handler.ts';
import type { FaultyAnswer } from './fault.ts';

export const maxLogged = 1000;
const [maxPath, maxError] = [2000, 300];

export type RequestLog = ReturnType<typeof createRequestLog>;

export interface LoggedRequest {
  time: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  /** Whose key it was, `a` or `b`; `null` if it was nobody's. */
  partner: string | null;
  /** The last four characters of the key that was sent; `null` without a key. */
  key: string | null;
  /** The error in the answer, or why there was no answer; `null` if the request was served. */
  error: string | null;
  /** Names of the query and fields of the body that changed nothing. */
  ignored: readonly string[];
  /** The fault that was injected, as `--fault` has it. */
  fault?: string;
}

/** The latest requests, without what may be a key. */
export function createRequestLog(now: () => number) {
  const kept: LoggedRequest[] = [];
  return {
    note: ({ method, target, authorization }: IncomingRequest, answer: FaultyAnswer, ms: number): LoggedRequest => {
      const { status, headers, fault } = answer;
      const key = readBearer(authorization);
      const logged = {
        time: new Date(now()).toISOString(),
        method,
        path: printable(hideSecrets(target, key).slice(0, maxPath)),
        status,
        ms: Math.round(ms * 10) / 10,
        partner: sandboxPartners.find((partner) => partner.key === key)?.id ?? null,
        key: key === undefined ? null : `…${key.length < 8 ? '' : printable(key.slice(-4))}`,
        error: readError(answer, key),
        ignored: headers[ignoredHeader]?.split(',') ?? [],
        ...(fault !== undefined && { fault }),
      };
      kept.push(logged);
      if (kept.length > maxLogged) kept.shift();
      return logged;
    },
    latest: (count: number): readonly LoggedRequest[] => kept.slice(-count),
  };
}

export function formatRequest(logged: LoggedRequest): string {
  const { time, method, path, status, ms, error, ignored, fault } = logged;
  const parts = [
    `${time} ${method} ${path} ${status} ${ms} ms`,
    sayWhose(logged),
    ...(ignored.length === 0 ? [] : [`ignored: ${ignored.join(', ')}`]),
    ...(fault === undefined ? [] : [`fault: ${fault}`]),
    ...(error === null ? [] : [`error: ${safeText(error)}`]),
  ];
  return parts.join(', ');
}

/** Whose key came with a request, such as `key a …ey-a`. */
export function sayWhose({ key, partner }: LoggedRequest): string {
  return key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`;
}

function readError({ status, text, cut }: FaultyAnswer, key: string | undefined): string | null {
  if (cut === 'all') return 'the connection was closed';
  const said = status < 400 ? undefined : tryParseJson(text);
  return isObject(said) ? hideSecrets(String(said['error']), key).slice(0, maxError) : null;
}
