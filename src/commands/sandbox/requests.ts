import type { WireNames } from '../../api/endpoint.ts';
import { endpoints } from '../../api/endpoints.ts';
import { isObject } from '../../api/json.ts';
import { describeCall, maxBodyBytes, type SeenCall } from '../../calls/describe-call.ts';
import type { LogEntry } from '../../calls/entry.ts';
import { listReasons } from '../../calls/reasons.ts';
import { checkSent, showExchange } from '../../calls/show-exchange.ts';
import { NetworkFailure } from '../../client/failures.ts';
import { secretHider } from '../../client/secrets.ts';
import { maxAnswerBytes, type Transport } from '../../client/transport.ts';
import { usageError } from '../../errors.ts';
import type { LoggedRequest } from '../../lib/logged-request.ts';
import type { RequestRow, ShownExchange } from '../../pages/requests.ts';
import { sandboxPartners } from '../../sandbox/db/world.ts';
import type { FaultyAnswer } from '../../sandbox/serve/fault.ts';
import type { HeardRequest } from '../../sandbox/serve/listen.ts';
import { maxLogged, sayWhose } from '../../sandbox/serve/request-log.ts';
import { readBearer } from '../../sandbox/service/handler.ts';

interface StoreOptions {
  /** Of the sandbox. */
  url: string;
  wire: WireNames;
  transport: Transport;
  timeoutMs: number;
  signal: AbortSignal;
}

interface KeptRequest {
  row: RequestRow & LoggedRequest;
  entry: LogEntry;
  /** With its secrets: never leaves this process. */
  sent: { method: string; target: string; authorization: string | undefined; text: string | undefined };
  bytes: number;
}

/** Kept of all bodies together. */
const maxKeptBytes = 32 * 1024 * 1024;

/** The latest requests of a served sandbox with their answers, for its page, which may send them again. */
export function createRequestStore({ url, wire, transport, timeoutMs, signal }: StoreOptions) {
  const kept: KeptRequest[] = [];
  let [count, bytes] = [0, 0];
  const find = (number: unknown): KeptRequest => {
    const found = kept.find(({ row }) => row.number === Number(number));
    if (found === undefined) throw usageError(`request ${number}: is not kept any more`);
    return found;
  };
  return {
    add: (logged: LoggedRequest, heard: HeardRequest, answer: FaultyAnswer): RequestRow => {
      count += 1;
      const { method, target, authorization, text } = heard;
      const row = { ...logged, number: count, by: sayWhose(logged) };
      const entry = describeExchange({ logged, heard, answer }, url, wire);
      const size = (text?.length ?? 0) + Math.min(answer.text.length, maxBodyBytes);
      kept.push({ row, entry, sent: { method, target, authorization, text }, bytes: size });
      bytes += size;
      while (kept.length > maxLogged || bytes > maxKeptBytes) bytes -= kept.shift()?.bytes ?? 0;
      return row;
    },
    /** The newest first. */
    list: (): RequestRow[] => kept.map(({ row }) => row).reverse(),
    show: async (number: unknown): Promise<ShownExchange> => {
      const { row, entry } = find(number);
      const known = { endpoints, wire, typedBaseUrl: url, ...(row.key !== null && { keyName: row.key }) };
      const keys = [['', `as it was: ${row.by}`], ...sentKeys] as const;
      const why = await listReasons(entry, known);
      return showExchange({ row, entry, why, baseUrl: url, wire, keys, asksFirst: false });
    },
    /** Sends a new request, or a kept one with changes, and returns its row. Errors: `usage`; those of the transport. */
    send: async (given: unknown): Promise<{ row: RequestRow | null }> => {
      const asked = isObject(given) ? given : {};
      const sent = asked['number'] === undefined ? undefined : find(asked['number']).sent;
      const { method = sent?.method, target = sent?.target, body = sent?.text, key } = asked;
      const address = new URL(url).origin + checkSent(method, target);
      const partner = sandboxPartners.find(({ id }) => id === key);
      const authorization = partner === undefined ? sent?.authorization : `Bearer ${partner.key}`;
      const hasBody = method !== 'GET' && typeof body === 'string' && body !== '';
      const request = {
        method: String(method),
        url: new URL(address),
        headers: {
          ...(authorization !== undefined && key !== 'none' && { authorization }),
          ...(hasBody && { 'content-type': 'application/json' }),
        },
        ...(hasBody && { body }),
      };
      const before = count;
      const limits = { timeoutMs, totalMs: timeoutMs, maxBytes: maxAnswerBytes, signal };
      await transport.send(request, limits).catch(readBroken);
      const isSame = ({ row, entry }: KeptRequest) =>
        row.number > before && row.method === method && entry.request.url.includes(request.url.pathname);
      return { row: kept.findLast(isSame)?.row ?? null };
    },
  };
}

/** Whose key a request is sent with in place of its own. */
const sentKeys = [
  ...sandboxPartners.map(({ id }) => [id, `key of partner ${id}`] as const),
  ['none', 'no key'],
] as const;

/** A fault that closes the connection is what was to be seen. */
function readBroken(thrown: unknown): undefined {
  if (!(thrown instanceof NetworkFailure) || thrown.kind !== 'broken') throw thrown;
}

interface Exchange {
  logged: LoggedRequest;
  heard: HeardRequest;
  answer: FaultyAnswer;
}

/** A request and its answer as an entry of the log of calls, what is secret hidden. */
function describeExchange({ logged, heard, answer }: Exchange, baseUrl: string, wire: WireNames): LogEntry {
  const { method, target, headers, authorization, text: body } = heard;
  const address = `${new URL(baseUrl).origin}${target}`;
  const request = {
    method,
    url: new URL(URL.canParse(address) ? address : baseUrl),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])),
    ...(body !== undefined && body !== '' && { body }),
  };
  const startedMs = Date.parse(logged.time) - logged.ms;
  const facts = { command: '', pid: 0, baseUrl, wire };
  const ended = describeEnd(answer, logged.ms);
  const error = ended.kind === 'failure' ? { errorCode: 'network', error: ended.message } : {};
  return describeCall(
    { request, startedMs, attempt: 1, ended },
    { ...facts, ...error },
    secretHider(readBearer(authorization)),
  );
}

function describeEnd({ status, headers, text: whole, cut }: FaultyAnswer, ms: number): NonNullable<SeenCall['ended']> {
  if (cut === 'all')
    return { kind: 'failure', message: 'the connection was closed before the answer', ms, cause: undefined };
  const text = cut === 'half' ? whole.slice(0, whole.length / 2) : whole;
  return { kind: 'answer', status, headers, text, bytes: Buffer.byteLength(text), ms };
}
