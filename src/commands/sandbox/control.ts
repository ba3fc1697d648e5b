import type { IncomingHttpHeaders } from 'node:http';
import { sameText } from '../../api/webhook-signature.ts';
import { maxLogged, type RequestLog } from '../../sandbox/serve/request-log.ts';
import {
  controlHeader,
  cutQuery,
  type IncomingRequest,
  makeAnswer,
  readBearer,
  type ServedAnswer,
  ServiceRefusal,
} from '../../sandbox/service/handler.ts';

const root = '/_sandbox/';
const methods = { status: 'GET', log: 'GET', stop: 'POST' } as const;

/** What the control API of a served sandbox, under /_sandbox/, works with. */
export interface Control {
  /** Requests to it need this. */
  token: string;
  pid: number;
  log: RequestLog;
  stop: () => void;
}

/** Whether a request comes from the control API or the page, not from a user of the service. */
export function isOwnRequest({ token }: Control, { target }: IncomingRequest, headers: IncomingHttpHeaders): boolean {
  return target.startsWith(root) || headers[controlHeader] === token;
}

/** `undefined` for a request to the service. Errors: `ServiceRefusal`. */
export function answerControl(
  { token, pid, log, stop }: Control,
  { method, target, authorization }: IncomingRequest,
  headers: IncomingHttpHeaders,
): ServedAnswer | undefined {
  if (!target.startsWith(root)) return undefined;
  const given = String(headers[controlHeader] ?? readBearer(authorization) ?? '');
  if (!sameText(given, token)) throw new ServiceRefusal(401, 'wrong control token');
  const path = cutQuery(target);
  const name = path.slice(root.length);
  if (name !== 'status' && name !== 'log' && name !== 'stop')
    throw new ServiceRefusal(404, `no such endpoint: ${method} ${path}`);
  const allow = methods[name];
  if (method !== allow) throw new ServiceRefusal(405, `${path} takes ${allow}, not ${method}`, { allow });
  if (name === 'stop') setImmediate(stop);
  const limit = Number(new URLSearchParams(target.slice(path.length)).get('limit')) || maxLogged;
  return makeAnswer(200, JSON.stringify(name === 'log' ? log.latest(Math.max(1, limit)) : { pid }));
}
