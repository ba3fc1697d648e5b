import type { LoggedRequest } from '../../model/logged-request.ts';
import { hidden, hideUrlSecrets } from '../../model/url-secrets.ts';
import { sandboxPartners } from '../db/world.ts';
import type { FaultyAnswer } from './fault.ts';
import { type IncomingRequest, ignoredHeader, printable, readBearer } from './service.ts';

export const maxLogged = 1000;
const maxPath = 2000;

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
        path: hideSecrets(target, key),
        status,
        ms: Math.round(ms * 10) / 10,
        partner: sandboxPartners.find((partner) => partner.key === key)?.id ?? null,
        key: key === undefined ? null : `…${key.length < 8 ? '' : printable(key.slice(-4))}`,
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
  const { time, method, path, status, ms, ignored, fault } = logged;
  const ignores = ignored.length === 0 ? '' : `, ignored: ${ignored.join(', ')}`;
  return `${time} ${method} ${path} ${status} ${ms} ms, ${sayWhose(logged)}${ignores}${fault === undefined ? '' : `, fault: ${fault}`}`;
}

/** Whose key came with a request, such as `key a …ey-a`. */
export function sayWhose({ key, partner }: LoggedRequest): string {
  return key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`;
}

function hideSecrets(target: string, key: string | undefined): string {
  const shown = hideUrlSecrets(target.slice(0, maxPath));
  return printable(key === undefined || key.length < 4 ? shown : shown.replaceAll(key, hidden));
}
