import { methods, type WireNames, wireName } from '../api/endpoint.ts';
import { endpoints } from '../api/endpoints.ts';
import { describeKind, itemOf } from '../api/kind.ts';
import { matchEndpoint } from '../api/request.ts';
import { shellLine } from '../client/shell.ts';
import { usageError } from '../errors.ts';
import type { ActivityDetail, ActivityRow, RequestField, RequestForm, ShownMessage } from '../pages/activity.ts';
import type { LogEntry } from './entry.ts';
import type { Explanation } from './explain.ts';
import { readPath } from './read-log.ts';
import { evidenceTexts, listLines, writeCurl } from './why.ts';

interface Exchange {
  row: ActivityRow;
  entry: LogEntry;
  why: Explanation;
  facts: ActivityDetail['facts'];
  /** How command lines for the service begin. */
  commandStart: string;
  chain: ActivityDetail['chain'];
  baseUrl: string;
  wire: WireNames;
  keys: RequestForm['keys'];
}

/** A call as a page shows it, whichever log it is from. */
export function showExchange(exchange: Exchange): ActivityDetail {
  const { row, entry, why, facts, chain, commandStart, baseUrl } = exchange;
  const { request, response } = entry;
  const { method, url, headers, postData } = request;
  const words = ['request', method, readPath(url, baseUrl), ...(postData?.text ? ['--data', postData.text] : [])];
  return {
    row,
    ...(row.failed && { error: { message: why.rule, hints: why.next } }),
    facts: [...facts, ...listLines(evidenceTexts(why))],
    response: response.status === 0 ? null : showMessage(response.headers, response.content),
    request: showMessage(headers, postData),
    curl: writeCurl({ ...request, headers: headers.filter(isNeeded) }) ?? undefined,
    command: `${commandStart} ${shellLine(words)}`,
    chain,
    form: makeForm(exchange),
  };
}

/** The target of a request that a page asks to send. Errors: `usage`. */
export function checkSent(method: unknown, target: unknown): string {
  if (!methods.some((each) => each === method))
    throw usageError(`method ${method}: must be one of ${methods.join(', ')}`);
  if (!String(target).startsWith('/') || !URL.canParse(`http://localhost${target}`))
    throw usageError(`path ${target}: must begin with / and be percent-encoded`);
  return String(target);
}

/** Whether a curl line needs a header: others are added by each client itself. */
const isNeeded = ({ name }: { name: string }) => /^(?:authorization|content-type|idempotency-key|x-.+)$/i.test(name);

interface KeptText {
  text?: string | undefined;
  _cut?: { bytes: number } | undefined;
}

function showMessage(headers: ShownMessage['headers'], { text = '', _cut: cut }: KeptText = {}): ShownMessage {
  const body = Buffer.from(text);
  return {
    headers: headers.map(({ name, value }) => ({ name, value })),
    body: body.toString('base64'),
    bodyBytes: cut?.bytes ?? body.length,
  };
}

/** The form of an endpoint, filled in; of an unknown path its names alone. */
function makeForm({ entry: { request }, baseUrl, wire, keys }: Exchange): RequestForm {
  const { method, url, postData } = request;
  const { searchParams } = new URL(url);
  const matched = matchEndpoint({ method, url }, baseUrl, endpoints);
  const { endpoint, parts } = matched ?? {};
  const params = Object.entries(endpoint?.params ?? {});
  const fields = params.flatMap(([key, param]): RequestField[] => {
    const { location, help, kind, aliases = [] } = param;
    if (endpoint === undefined || (location !== 'path' && location !== 'query')) return [];
    const own = location === 'path' ? key : wireName(endpoint, key, param, wire);
    const name = aliases.find((other) => searchParams.has(other)) ?? own;
    const isList = kind.type === 'list';
    const item = itemOf(kind);
    const choices =
      item.type === 'boolean'
        ? ['true', 'false']
        : isList || item.type !== 'choice' || item.open
          ? []
          : item.choices.map(String);
    const value = location === 'path' ? (parts?.path[key] ?? '') : searchParams.getAll(name).join(',');
    return [
      { place: location, name, help, must: describeKind(kind), value, isList, isRequired: !kind.optional, choices },
    ];
  });
  const known = fields.map(({ name }) => name);
  const others = [...new Set(searchParams.keys())].filter((name) => !known.includes(name));
  const unknown = others.map(
    (name): RequestField => ({
      place: 'query',
      name,
      help: 'this endpoint does not know it',
      must: '',
      value: searchParams.getAll(name).join(','),
      isList: true,
      isRequired: false,
      choices: [],
    }),
  );
  const takesBody = params.some(([, { location }]) => location === 'body' || location === 'document');
  return {
    kind: 'request',
    method,
    keys,
    path: endpoint?.path ?? readPath(url, baseUrl).split('?')[0] ?? '',
    fields: [...fields, ...unknown],
    body: postData?.text ?? (takesBody || method === 'POST' || method === 'PUT' ? '' : null),
  };
}
