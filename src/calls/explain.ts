import type { z } from 'zod';
import { dayMs } from '../api/duration.ts';
import { type Endpoint, type WireNames, wireName } from '../api/endpoint.ts';
import { isLoopback } from '../api/http-address.ts';
import { isObject, shortJson, tryParseJson } from '../api/json.ts';
import { type Difference, findDifferences } from '../api/mismatch.ts';
import { nearest } from '../api/nearest.ts';
import { decodeRequest, matchEndpoint, type RequestParts } from '../api/request.ts';
import { isForeign, isWebPage, readPageTitle, readRequestId, readServiceError } from '../client/failures.ts';
import { splitVersion } from '../client/hints.ts';
import { isUnsent, mayRepeat, readRetryAfter } from '../client/retry.ts';
import { command, serviceFlags, shellLine } from '../client/shell.ts';
import { usualLimits } from '../client/transport.ts';
import { counted } from '../lib/output/format.ts';
import type { LogEntry } from './entry.ts';

/** Facts beside the call, as far as they are known. */
export interface CallSettings {
  endpoints: readonly Endpoint[];
  wire?: WireNames;
  context?: string | undefined;
  /** The address of the service, if a command without `--base-url` would now go to another. */
  typedBaseUrl?: string | undefined;
  /** The key in use, such as `...1234 from SOTRA_API_KEY`. */
  keyName?: string | undefined;
  /** The context that has this very key for another address. */
  keyBelongsTo?: { context: string; baseUrl: string } | undefined;
  serviceName?: string | undefined;
  layout?: string;
}

/** A parameter without effect; `meant`: the known name that is nearest, if one is near. */
interface IgnoredName {
  name: string;
  meant: string | null;
}

export interface Explanation {
  /** The cause in one sentence. */
  rule: string;
  differences: Difference[];
  ignored: IgnoredName[];
  notes: string[];
  /** Commands to type or things to check now, best first. */
  next: string[];
}

type Reason = Pick<Explanation, 'rule' | 'next'>;

interface Answer {
  status: number;
  /** Their names in lower case. */
  headers: Readonly<Record<string, string>>;
  text: string;
  isCut: boolean;
}

interface Facts {
  entry: LogEntry;
  settings: CallSettings;
  endpoint: Endpoint | undefined;
  parts: RequestParts | undefined;
  origin: string;
  answer: Answer | undefined;
}

/** Why a call failed, and where its answer does not match the interface. */
export async function explainEntry(entry: LogEntry, settings: CallSettings): Promise<Explanation> {
  const { request, _sotra } = entry;
  const matched = matchEndpoint(request, _sotra.baseUrl, settings.endpoints);
  const parts = matched && { ...matched.parts, body: tryParseJson(request.postData?.text ?? '') };
  const { origin } = new URL(request.url);
  const answer = findAnswer(entry);
  const { status = 0, text = '', isCut = true } = answer ?? {};
  const data = status >= 300 || isCut ? undefined : tryParseJson(text);
  const endpoint = matched?.endpoint;
  const schema = data === undefined ? undefined : ((await endpoint?.answer()) as z.ZodType | undefined);
  const differences = schema === undefined ? [] : findDifferences(schema, data);
  const facts: Facts = { entry, settings, endpoint, parts, origin, answer };
  const { rule, next } = findReason(facts, differences);
  return { rule, differences, ignored: findIgnored(facts), notes: findNotes(facts), next };
}

/** Parameters without effect: named by the service, or unknown to the interface. */
function findIgnored({ entry, endpoint, parts, settings: { wire } }: Facts): IgnoredName[] {
  const named = entry._sotra.ignored ?? [];
  if (endpoint === undefined || parts === undefined) return named.map((name) => ({ name, meant: null }));
  const decoded = decodeRequest(endpoint, parts, wire, ['all']);
  const names = new Set([...named, ...(decoded.ok ? decoded.ignored : [])]);
  const known = Object.entries(endpoint.params)
    .filter(([, { location }]) => location === 'query' || location === 'body')
    .map(([key, param]) => wireName(endpoint, key, param, wire ?? {}));
  return [...names].map((name) => ({ name, meant: nearest(name.split('=')[0] ?? '', known) ?? null }));
}

/** Why a command failed, if no call explains it. */
export function explainCommand({ code, message, hint }: { code: string; message: string; hint?: string | undefined }) {
  const next = [...(hint === undefined ? [] : [hint]), ...(code === 'key-missing' ? ['sotra auth status'] : [])];
  return { rule: sentence(message), differences: [], ignored: [], notes: [], next } satisfies Explanation;
}

function findAnswer({ response }: LogEntry): Answer | undefined {
  if (response.status === 0) return undefined;
  const headers = Object.fromEntries(response.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const { text = '', _cut: cut } = response.content;
  return { status: response.status, headers, text, isCut: cut !== undefined };
}

function findReason(facts: Facts, differences: readonly Difference[]): Reason {
  const { entry, answer, origin } = facts;
  const { errorCode, error = '', hint, warning, failure } = entry._sotra;
  const ownError = () => explainCommand({ code: errorCode ?? '', message: error, hint });
  if (errorCode === 'redirect') return reasonOfRedirect(facts);
  if (errorCode === 'interrupted') return makeReason('The command was interrupted before the answer came.');
  if (failure !== undefined) return reasonOfConnection(facts, failure.kind);
  if (answer === undefined) return ownError();
  if ([401, 403].includes(answer.status) && isForeign(answer)) return reasonOfProxy(facts, answer);
  if (answer.status >= 400) return (reasons[answer.status] ?? reasonOfStatus)(facts, answer);
  if (errorCode === 'bad-answer') return reasonOfBadAnswer(facts, answer) ?? ownError();
  const [first, ...others] = differences;
  if (first !== undefined)
    return makeReason(
      `The answer does not match the interface at ${first.at}: expected ${first.expected}, found ${first.found}${others.length === 0 ? '' : `, and ${counted(others.length, 'other difference')}`}.`,
      ...(errorCode === 'contract' ? ['Without --strict this is a warning, and the values are shown.'] : []),
    );
  if (errorCode !== undefined) return ownError();
  if (warning !== undefined) return makeReason(sentence(warning));
  return makeReason(`The call succeeded, and the answer of ${origin} matches the interface.`);
}

function makeReason(rule: string, ...next: readonly string[]): Reason {
  return { rule, next: [...next] };
}

/** A command line for the service of a call. */
function typed({ settings: { context, typedBaseUrl: baseUrl } }: Facts, words: string): string {
  const flags = serviceFlags(context === 'sandbox' && baseUrl === undefined ? { sandbox: true } : { context, baseUrl });
  return shellLine(['sotra', ...flags, ...words.split(' ')]);
}

function reasonOfConnection(facts: Facts, kind: string): Reason {
  const { error, hint } = facts.entry._sotra;
  return makeReason(
    sentence(error ?? 'the connection failed'),
    ...(isUnsent(kind) ? [] : writeWarning(facts)),
    ...(hint === undefined ? [] : [hint]),
    typed(facts, 'doctor'),
  );
}

function writeWarning({ entry: { request } }: Facts): string[] {
  return request.method === 'GET' ? [] : ['It may have been done: check before you send it again.'];
}

function reasonOfRedirect({ answer, origin, entry: { _sotra } }: Facts): Reason {
  const to = answer?.headers['location'];
  const target = to !== undefined && URL.canParse(to, origin) ? new URL(to, origin).origin : origin;
  if (target === origin || target === 'null')
    return explainCommand({ code: 'redirect', message: _sotra.error ?? '', hint: _sotra.hint });
  // No line to paste: the target of the redirect would get the key.
  return makeReason(`${origin} redirects to ${target}, and the key is sent to no other origin.`);
}

const reasons: Readonly<Record<number, (facts: Facts, answer: Answer) => Reason>> = {
  400: reasonOfRefusedInput,
  401: reasonOfRefusedKey,
  403: (facts, answer) =>
    makeReason(`The key is valid but is not allowed to do this${quote(answer)}.`, typed(facts, 'auth status')),
  404: reasonOfMissing,
  409: (_, answer) => makeReason(`The request conflicts with what the service already has${quote(answer)}.`),
  413: ({ entry: { request } }) =>
    makeReason(
      `The body is larger than the service accepts: ${request['bodySize'] ?? 0} bytes.`,
      'A call takes 1000 addresses at most: sotra webhook sync sends them in chunks.',
    ),
  422: reasonOfRefusedInput,
  429: reasonOfLimit,
};

function reasonOfProxy(facts: Facts, answer: Answer): Reason {
  return makeReason(
    `A proxy or a bot check refused the request before the service saw it: the answer is ${describePage(answer)}.`,
    typed(facts, 'context show'),
  );
}

function reasonOfStatus(facts: Facts, answer: Answer): Reason {
  const { status, headers } = answer;
  if (status < 500) return makeReason(`The service refused the call with HTTP ${status}${quote(answer)}.`);
  const id = readRequestId(headers);
  const who = isWebPage(answer) ? 'A gateway in front of the service' : 'The service';
  const { asked, next } = planRepeat(facts, answer, ['--retries 5']);
  return makeReason(
    `${who} failed with HTTP ${status}${quote(answer)}. The request is not the cause.${asked}`,
    ...writeWarning(facts),
    ...(id === undefined ? [] : [`Tell the operator of the service the request id ${id}.`]),
    ...next,
  );
}

function reasonOfRefusedKey(facts: Facts, answer: Answer): Reason {
  const { entry, origin, settings } = facts;
  const status = typed(facts, 'auth status');
  if (!entry.request.headers.some(({ name }) => name === 'authorization'))
    return makeReason('The request had no key, and the service requires one.', status);
  if (findNamed(facts, answer).includes('signature')) return reasonOfRefusedInput(facts, answer);
  const { keyBelongsTo: other, keyName = 'that was sent' } = settings;
  if (other !== undefined)
    return makeReason(
      `The key ${keyName} is the one of context ${other.context}, for ${other.baseUrl}: ${origin} does not know it.`,
      command`sotra --context ${other.context} auth status`,
      status,
    );
  return makeReason(`${origin} rejected the key ${keyName}${quote(answer)}.`, status, ...keyLines(facts));
}

/** How another key is given to the service of the call. */
function keyLines(facts: Facts): string[] {
  const { origin, settings } = facts;
  const { context, typedBaseUrl } = settings;
  if (context !== undefined && context !== 'sandbox' && typedBaseUrl === undefined) return [typed(facts, 'auth login')];
  if (context === 'sandbox' || isLoopback(new URL(origin).hostname))
    return ['If it is a sandbox: SOTRA_API_KEY=sandbox-key-a'];
  return [command`sotra auth login --context <name> --base-url ${origin}`];
}

function reasonOfMissing(facts: Facts, answer: Answer): Reason {
  const { endpoint, parts, entry, settings } = facts;
  const { request, _sotra } = entry;
  const ending = splitVersion(_sotra.baseUrl);
  if (ending !== undefined)
    return makeReason(
      `The base URL ends in /${ending.version}, which the paths already begin with.`,
      command`--base-url ${ending.base}`,
    );
  if (endpoint === undefined) {
    const asked = `${request.method} ${new URL(request.url).pathname}`;
    const near = nearest(
      asked,
      settings.endpoints.map(({ method, path }) => `${method} ${path}`),
    );
    return makeReason(
      `The interface has no ${asked}${near === undefined ? '' : `; the nearest is ${near}`}.`,
      'sotra openapi',
    );
  }
  const show = typed(facts, 'context show');
  if (isForeign(answer))
    return makeReason(`The base URL is not the service: the answer is ${describePage(answer)}.`, show);
  const asked = Object.entries(parts?.path ?? {}).map(([name, value]) => `${name} ${value}`);
  const hasId = asked.length > 0 || parts?.body !== undefined;
  return makeReason(
    `The service did not find ${asked.join(', ') || endpoint.path}${quote(answer)}.`,
    hasId ? 'Check it for a typo. Ids are valid at one service only.' : 'Check the base URL.',
    show,
  );
}

function reasonOfRefusedInput(facts: Facts, answer: Answer): Reason {
  const { endpoint, parts, settings } = facts;
  const named = findNamed(facts, answer);
  if (named.includes('signature')) return reasonOfSignature(facts, answer);
  const help = endpoint === undefined ? [] : [shellLine(['sotra', ...endpoint.id.split('.'), '--help'])];
  const decoded = endpoint && parts && decodeRequest(endpoint, parts, settings.wire, ['all']);
  if (decoded?.ok === false) {
    const said = readServiceError(answer.text) === decoded.problem ? '' : ` It said${quote(answer)}.`;
    return makeReason(`The service refused ${decoded.problem}.${said}`, ...help);
  }
  const sent = named.map((name) => `${name} was ${findSent(parts, name) ?? 'not sent'}`);
  return makeReason(
    `The service refused the input${quote(answer)}${sent.length === 0 ? '' : ` (${sent.join(', ')})`}.`,
    ...help,
  );
}

function reasonOfLimit(facts: Facts, answer: Answer): Reason {
  const { asked, next } = planRepeat(facts, answer, ['--rate 2/s', '--retries 10']);
  return makeReason(`Too many calls to ${facts.origin}${quote(answer)}.${asked}`, ...next);
}

function reasonOfSignature({ entry, settings }: Facts, answer: Answer): Reason {
  // As words of the line: `--flag value` or `--flag=value`, each in quotes if the shell needs them.
  const readFlag = (flag: string) =>
    new RegExp(`'${flag}=([^']*)'|${flag}[ =](?:'([^']*)'|(\\S+))`).exec(entry._sotra.command)?.slice(1).find(Boolean);
  const [typedName, typedLayout] = [readFlag('--service-name'), readFlag('--layout')];
  const { serviceName = '<service name>', layout = 'five-line' } = settings;
  const form = `the layout ${typedLayout ?? layout}, beginning "${typedName ?? serviceName} Swap Comment:"`;
  const other = layout === 'five-line' ? 'blank-line' : 'five-line';
  const retry = command`sotra context set ${settings.context ?? '<name>'} --layout ${other}`;
  const next = (typedName ?? typedLayout) ? 'Omit --service-name and --layout, to sign for the context.' : retry;
  const rule = `The service refused the signature${quote(answer)}. It was made over ${form}.`;
  return makeReason(rule, 'sotra comment verify --help', next);
}

const { maxWaitMs } = usualLimits;

/** The wait that an answer asks for, and what to type: `flags` for a request that is repeated after a short wait. */
function planRepeat({ entry }: Facts, answer: Answer, flags: readonly string[]): { asked: string; next: string[] } {
  const endedMs = Date.parse(entry.startedDateTime) + entry.time;
  const waitMs = readRetryAfter(answer.headers['retry-after'], endedMs);
  const isRepeated = mayRepeat(entry.request.method, answer);
  if (waitMs === undefined) return { asked: '', next: isRepeated ? [...flags] : [] };
  const until = new Date(endedMs + waitMs).toISOString().slice(0, 19);
  const longer = waitMs < dayMs - maxWaitMs ? [`--timeout ${Math.ceil(waitMs / 1000) + 60}s`] : [];
  const lines = waitMs <= maxWaitMs ? flags : longer;
  return {
    asked: ` It asks to wait ${seconds(waitMs)}.`,
    next: [`Send it again after ${until}Z.`, ...(isRepeated ? lines : [])],
  };
}

/** `undefined` if the answer is JSON, and the error itself says why it was refused. */
function reasonOfBadAnswer(facts: Facts, answer: Answer): Reason | undefined {
  const next = [typed(facts, 'context show'), typed(facts, 'doctor')];
  if (isWebPage(answer))
    return makeReason(
      `A proxy or a web server answered, not the service: the answer is ${describePage(answer)}.`,
      ...next,
    );
  if (answer.text.trim() === '') return makeReason('The answer is empty, not JSON.', ...next);
  const { badJson } = facts.entry._sotra;
  if (badJson === undefined) return undefined;
  const { line, column, near } = badJson;
  const place = `line ${line}, column ${column}`;
  if (near === '') return makeReason(`The answer ends in the middle of its JSON, at ${place}.`, ...next);
  return makeReason(`The answer is not valid JSON: unexpected ${JSON.stringify(near)} at ${place}.`, ...next);
}

function findNotes({ answer }: Facts): string[] {
  const via = answer?.headers['via'];
  return [
    ...(via === undefined ? [] : [`A proxy is in between: ${via}.`]),
    ...(answer?.isCut ? ['The history has only the beginning of the answer.'] : []),
  ];
}

/** The parameters that the service names in its error, as it calls them. */
function findNamed({ endpoint, settings }: Facts, answer: Answer): string[] {
  const words = new Set((readServiceError(answer.text) ?? '').split(/[^\w]+/));
  return Object.entries(endpoint?.params ?? {}).flatMap(([key, param]) => {
    const name = wireName(endpoint as Endpoint, key, param, settings.wire ?? {});
    return words.has(name) || words.has(key) ? [name] : [];
  });
}

function findSent(parts: RequestParts | undefined, name: string): string | undefined {
  const value =
    parts?.path[name] ?? parts?.query.get(name) ?? (isObject(parts?.body) ? parts.body[name] : undefined) ?? undefined;
  return value === undefined ? undefined : shortJson(value);
}

/** `: "<message of the service>"`; empty without one, and for JSON of another shape, which is shown as the answer. */
function quote(answer: Answer): string {
  const body = tryParseJson(answer.text) ?? (isWebPage(answer) ? '' : answer.text.trim());
  const text = readServiceError(answer.text) ?? (typeof body === 'string' ? body : '');
  return text === '' ? '' : `: ${JSON.stringify(text.slice(0, 200).replace(/\.$/, ''))}`;
}

function describePage(answer: Answer): string {
  if (!isWebPage(answer)) return `not JSON${quote(answer)}`;
  const title = readPageTitle(answer.text);
  return title === undefined ? 'a web page' : `a web page (${JSON.stringify(title)})`;
}

function sentence(text: string): string {
  const upper = /^\w+:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
