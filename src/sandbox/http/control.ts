import { SotraError } from '../../errors.ts';
import { tryParseJson } from '../../model/json.ts';
import type { LoggedRequest } from '../../model/logged-request.ts';
import { sameText } from '../../model/webhook-signature.ts';
import { sandboxPartners } from '../db/world.ts';
import type { FaultyAnswer } from './fault.ts';
import {
  type Answer,
  answerOf,
  bearerOf,
  decodePart,
  type IncomingRequest,
  ignoredHeader,
  pathOf,
  printable,
  Refusal,
  refused,
} from './service.ts';

const root = '/_sandbox/';
/** Holds the control token. */
export const controlHeader = 'x-control-token';

/** What a path under /_sandbox/ does; `body` is that of a POST. Errors: `SotraError` is answered with 400. */
export interface ControlAction {
  method: 'GET' | 'POST';
  act: (query: URLSearchParams, body: unknown) => unknown;
}

interface ControlOptions {
  /** Sent as `x-control-token`, or as a bearer token. */
  token: string;
  status: unknown;
  log: RequestLog;
  stop: () => void;
  /** Further ones, by name. */
  actions: Readonly<Record<string, ControlAction>>;
}

/** Whether a request is for the control of a sandbox and not for its service. */
export function isControl({ target }: IncomingRequest): boolean {
  return target.startsWith(root);
}

/** Answers requests under /_sandbox/ for whoever has the token; `undefined` for other paths. */
export function createControl({ token, status, log, stop, actions: more }: ControlOptions) {
  const actions: Readonly<Record<string, ControlAction>> = {
    ...more,
    status: { method: 'GET', act: () => status },
    log: { method: 'GET', act: (query) => log.latest(Math.max(1, Number(query.get('limit')) || maxLogged)) },
    stop: {
      method: 'POST',
      act: () => {
        setImmediate(stop);
        return {};
      },
    },
  };
  const respond = async (request: IncomingRequest, given: string | undefined): Promise<Answer> => {
    const { method, target, authorization } = request;
    if (!sameText(given ?? bearerOf(authorization) ?? '', token))
      return refused(new Refusal(401, 'wrong control token'));
    const path = pathOf(target);
    const name = path.slice(root.length);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) return refused(new Refusal(404, `no such endpoint: ${method} ${path}`));
    if (action.method !== method)
      return refused(new Refusal(405, `${path} takes ${action.method}, not ${method}`, { allow: action.method }));
    const query = new URLSearchParams(target.slice(path.length));
    const body = method === 'GET' ? undefined : tryParseJson(await request.body());
    return answerOf(200, JSON.stringify(await action.act(query, body)));
  };
  return (request: IncomingRequest, given: string | undefined): Promise<Answer> | undefined =>
    isControl(request) ? respond(request, given).catch((thrown) => refused(refusalOf(thrown))) : undefined;
}

function refusalOf(thrown: unknown): unknown {
  if (!(thrown instanceof SotraError)) return thrown;
  return new Refusal(400, [thrown.message, thrown.hint].filter(Boolean).join('. '));
}

export interface RequestLog {
  note: (request: IncomingRequest, answer: FaultyAnswer, ms: number) => LoggedRequest;
  latest: (count: number) => readonly LoggedRequest[];
}

export const maxLogged = 1000;
const maxPath = 2000;

export function createRequestLog(now: () => number): RequestLog {
  let kept: LoggedRequest[] = [];
  return {
    note: ({ method, target, authorization }, { status, headers, fault }, ms) => {
      const key = bearerOf(authorization);
      const logged = {
        time: new Date(now()).toISOString(),
        method,
        path: shownPath(target, key),
        status,
        ms: Math.round(ms * 10) / 10,
        partner: sandboxPartners.find((partner) => partner.key === key)?.id ?? null,
        key: key === undefined ? null : `…${key.length < 8 ? '' : printable(key.slice(-4))}`,
        ignored: headers[ignoredHeader]?.split(',') ?? [],
        ...(fault !== undefined && { fault }),
      };
      kept.push(logged);
      if (kept.length >= 2 * maxLogged) kept = kept.slice(-maxLogged);
      return logged;
    },
    latest: (count) => kept.slice(-Math.min(count, maxLogged)),
  };
}

export function logLine({ time, method, path, status, ms, partner, key, ignored, fault }: LoggedRequest): string {
  const who = key === null ? 'no key' : `${partner === null ? 'unknown key' : `key ${partner}`} ${key}`;
  const ignores = ignored.length === 0 ? '' : `, ignored: ${ignored.join(', ')}`;
  return `${time} ${method} ${path} ${status} ${ms} ms, ${who}${ignores}${fault === undefined ? '' : `, fault: ${fault}`}`;
}

function shownPath(target: string, key: string | undefined): string {
  const [path = '', ...query] = target.slice(0, maxPath).split(/([?&])/);
  const shown = [path, ...query.map((part) => (isSecret(part) ? `${part.split('=', 1)[0]}=***` : part))].join('');
  return printable(key === undefined || key.length < 4 ? shown : shown.replaceAll(key, '***'));
}

function isSecret(part: string): boolean {
  const [name = '', value] = part.split('=', 2);
  return value !== undefined && /key|token|secret|auth|password|signature/i.test(decodePart(name) ?? name);
}
