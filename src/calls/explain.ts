import { dayMs, writeDuration } from '../api/duration.ts';
import { type Endpoint, type WireNames, wireName } from '../api/endpoint.ts';
import { isLoopback } from '../api/http-address.ts';
import { isObject, tryParseJson } from '../api/json.ts';
import { findNearestPath, matchEndpoint } from '../api/match-endpoint.ts';
import { decodeRequest, type RequestParts } from '../api/request.ts';
import { isUnsent, readRetryAfter } from '../client/retry.ts';
import { command, serviceFlags, shellLine } from '../client/shell.ts';
import { counted } from '../lib/output/format.ts';
import { type Difference, findDifferences, findIgnored, type IgnoredName } from './misfits.ts';

/** A call, or a command that failed before it made one, as far as it says why. */
export interface FailedCall {
  /** When it was sent, Unix milliseconds. */
  atMs: number;
  ms: number;
  baseUrl: string;
  request?: { method: string; url: string; hasKey: boolean; body?: string | undefined } | undefined;
  /** Absent where none came. Header names are lower case. */
  answer?: { status: number; headers: Readonly<Record<string, string>>; text: string; isCut: boolean } | undefined;
  /** Of a connection that failed: what kind of failure, and the code of the system or of TLS. */
  failure?: { kind: string; code?: string | undefined; message?: string } | undefined;
  error?: { code: string; message: string; hint?: string | undefined } | undefined;
  /** Names without effect, as the sandbox told them. */
  ignored: readonly string[];
}

/** What is known on this machine beside the call. */
export interface Surroundings {
  endpoints: readonly Endpoint[];
  wire: WireNames;
  context: string | undefined;
  /** The address of the service, where a command without `--base-url` would now go to another. */
  typedBaseUrl: string | undefined;
  /** The key that is in force, such as `...1234 from SOTRA_API_KEY`. */
  keyName: string | undefined;
  /** The context that has this very key for another address. */
  keyBelongsTo: { context: string; baseUrl: string } | undefined;
  serviceName: string | undefined;
  layout: string;
  /** Calls to the same service in the minute before. */
  callsBefore: number;
}

export interface Explanation {
  /** The rule that was broken, or the limit that was hit, in one sentence. */
  rule: string;
  differences: Difference[];
  ignored: IgnoredName[];
  notes: string[];
  /** What to type or look at now, best first. */
  next: string[];
}

type Reason = Pick<Explanation, 'rule' | 'next'>;

interface Facts extends FailedCall {
  around: Surroundings;
  endpoint: Endpoint | undefined;
  parts: RequestParts | undefined;
  origin: string;
}

/** Why a call failed. */
export async function explainCall(call: FailedCall, around: Surroundings): Promise<Explanation> {
  const matched = call.request && matchEndpoint(call.request, call.baseUrl, around.endpoints);
  const parts = matched && { ...matched.parts, body: tryParseJson(call.request?.body ?? '') };
  const origin = call.request === undefined ? call.baseUrl : new URL(call.request.url).origin;
  const facts: Facts = { ...call, around, endpoint: matched?.endpoint, parts, origin };
  const { status = 0, text = '', isCut = true } = call.answer ?? {};
  const data = status >= 300 || isCut ? undefined : tryParseJson(text);
  const answered = matched && parts && { endpoint: matched.endpoint, parts, wire: around.wire, data };
  const differences = answered === undefined ? [] : await findDifferences(answered);
  const { rule, next } = findReason(facts, differences);
  return { rule, differences, ignored: findIgnored(call.ignored, answered), notes: findNotes(facts), next };
}

/** A command line for the service of a call. */
function typed({ around }: Facts, words: string): string {
  const { context, typedBaseUrl: baseUrl } = around;
  const flags = serviceFlags(context === 'sandbox' && baseUrl === undefined ? { sandbox: true } : { context, baseUrl });
  return shellLine(['sotra', ...flags, ...words.split(' ')]);
}

function findReason(facts: Facts, differences: readonly Difference[]): Reason {
  const { request, answer, error, failure, origin } = facts;
  if (request === undefined) return reasonOfCommand(facts);
  if (error?.code === 'redirect') return reasonOfRedirect(facts);
  if (error?.code === 'interrupted') return because('The command was interrupted before the answer came.');
  if (answer === undefined && error === undefined)
    return because('The command was killed before the answer came, or it still waits for it.', ...writeWarning(facts));
  if (answer === undefined) return reasonOfConnection(facts, failure ?? { kind: 'broken' });
  if (answer.status >= 400) return (reasons[answer.status] ?? reasonOfStatus)(facts, answer);
  const isJson = answer.isCut || answer.text.trim() === '' || tryParseJson(answer.text) !== undefined;
  if (error?.code === 'bad-answer' || !isJson) return reasonOfBadAnswer(facts, answer);
  const [first, ...others] = differences;
  if (first !== undefined)
    return because(
      `The answer differs from the interface at ${first.at}: it should be ${first.expected} and is ${first.found}${others.length === 0 ? '' : `, and in ${counted(others.length, 'other place')}`}.`,
      'Without --strict this is a warning, and the values are shown.',
    );
  if (error !== undefined) return reasonOfCommand(facts);
  return because(`The call succeeded: ${origin} answered what the interface says.`);
}

function because(rule: string, ...next: readonly string[]): Reason {
  return { rule, next: [...next] };
}

/** Of a command that failed beside its calls. */
function reasonOfCommand(facts: Facts): Reason {
  const { error } = facts;
  const { code, message = 'nothing failed', hint } = error ?? {};
  const hints = hint === undefined ? [] : [hint];
  return because(sentence(message), ...hints, ...(code === 'key-missing' ? [typed(facts, 'auth status')] : []));
}

/** By the code of the system or of TLS, else by the kind of failure. */
const connectionReasons: Readonly<Record<string, (facts: Facts) => Reason>> = {
  ECONNREFUSED: ({ origin }) => because(`Nothing listens at ${origin}.`, 'Check host and port.', ...startLine(origin)),
  ENOTFOUND: ({ origin }) =>
    because(
      `The name ${new URL(origin).hostname} has no address.`,
      'Check the spelling of the base URL, and the network.',
    ),
  CERT_HAS_EXPIRED: ({ origin }) =>
    because(`The certificate of ${origin} has expired, or the clock of this machine is ahead.`, 'date -u'),
  CERT_NOT_YET_VALID: ({ origin }) =>
    because(`The certificate of ${origin} is not valid yet: the clock of this machine is behind.`, 'date -u'),
  refused: ({ origin }) => because(`${origin} cannot be reached.`, 'Check the network, a VPN or a firewall.'),
  proxy: ({ origin, failure }) =>
    because(
      `The service was not reached: ${failure?.message}.`,
      command`HTTPS_PROXY or HTTP_PROXY names the proxy; NO_PROXY=${new URL(origin).hostname} goes without.`,
    ),
  untrusted: ({ origin, failure }) =>
    because(
      `The certificate of ${origin} is not trusted (${failure?.code ?? 'no reason given'}).`,
      'NODE_EXTRA_CA_CERTS=/path/to/ca.pem names the authority that issued it.',
    ),
  plain: ({ origin }) => because(`What listens at ${origin} does not speak TLS.`, 'Check the port of the base URL.'),
  timeout: reasonOfTimeout,
  late: reasonOfTimeout,
  broken: ({ origin }) =>
    because(
      `The connection to ${origin} broke before the answer was whole.`,
      'If it breaks each time, something between this machine and the service cuts it off.',
    ),
};

function reasonOfTimeout({ origin, ms }: Facts): Reason {
  return because(
    `${origin} did not answer in time: the call ended after ${seconds(ms)}.`,
    `--timeout ${writeDuration(Math.min(dayMs, Math.max(300_000, 2000 * Math.round(ms / 1000))))}`,
  );
}

function startLine(origin: string): string[] {
  const { hostname, port } = new URL(origin);
  return isLoopback(hostname) ? [command`sotra sandbox start --port ${port || '80'}`] : [];
}

function reasonOfConnection(facts: Facts, { kind, code = '' }: NonNullable<FailedCall['failure']>): Reason {
  const ofCode = kind === 'proxy' ? undefined : connectionReasons[code === 'EAI_AGAIN' ? 'ENOTFOUND' : code];
  const find = ofCode ?? connectionReasons[kind];
  const { rule, next } = find?.(facts) ?? reasonOfCommand(facts);
  return because(rule, ...(isUnsent(kind) ? [] : writeWarning(facts)), ...next, typed(facts, 'doctor'));
}

function writeWarning({ request }: Facts): string[] {
  return request?.method === 'GET' ? [] : ['It may have been done: look before you send it again.'];
}

function reasonOfRedirect({ answer, origin, error }: Facts): Reason {
  const to = answer?.headers['location'];
  const target = to !== undefined && URL.canParse(to, origin) ? new URL(to, origin).origin : origin;
  if (target === origin) return because(sentence(error?.message ?? 'the service redirects'));
  // No line to paste: whoever redirects would be given the key.
  return because(`${origin} redirects to ${target}, and the key is sent to no other origin.`);
}

type Answer = NonNullable<FailedCall['answer']>;

const reasons: Readonly<Record<number, (facts: Facts, answer: Answer) => Reason>> = {
  400: reasonOfRefusedInput,
  401: reasonOfRefusedKey,
  403: (facts, answer) => because(`The key is not allowed to do this${quote(answer)}.`, typed(facts, 'auth status')),
  404: reasonOfMissing,
  405: ({ request }, { headers }) =>
    because(`This path does not take ${request?.method}; it takes ${headers['allow'] ?? 'other methods'}.`),
  407: () =>
    because(
      'A proxy asks for a password: the service was not reached.',
      'HTTPS_PROXY=http://<user>:<password>@<proxy>',
    ),
  409: (facts, answer) =>
    because(`What was asked for is taken or exists already${quote(answer)}.`, typed(facts, 'webhook list')),
  413: ({ request }) =>
    because(
      `The body is larger than the service takes: ${Buffer.byteLength(request?.body ?? '')} bytes.`,
      'A call takes 1000 addresses at most: sotra webhook sync sends them in chunks.',
    ),
  422: reasonOfRefusedInput,
  429: reasonOfLimit,
};

function reasonOfStatus(facts: Facts, answer: Answer): Reason {
  const { status, headers } = answer;
  if (status < 500) return because(`The service refused the call with ${status}${quote(answer)}.`);
  const id = headers['x-request-id'] ?? headers['request-id'];
  return because(
    `${isPage(answer) ? 'A gateway in front of the service' : 'The service'} failed with ${status}${quote(answer)}: no fault of the request.`,
    ...writeWarning(facts),
    ...(id === undefined ? [] : [`Tell the operator of the service the request id ${id}.`]),
    '--retries 5',
  );
}

function reasonOfRefusedKey(facts: Facts, answer: Answer): Reason {
  const { request, origin, around } = facts;
  const status = typed(facts, 'auth status');
  if (request?.hasKey === false) return because('The request had no key, and the service wants one.', status);
  if (findNamed(facts, answer).includes('signature')) return reasonOfRefusedInput(facts, answer);
  const { keyBelongsTo: other, keyName = 'that was sent' } = around;
  if (other !== undefined)
    return because(
      `The key ${keyName} is the one of context ${other.context}, for ${other.baseUrl}: ${origin} does not know it.`,
      command`sotra --context ${other.context} auth status`,
      status,
    );
  return because(`${origin} does not know the key ${keyName}${quote(answer)}.`, status, ...keyLines(facts));
}

/** How another key is given to the service of the call. */
function keyLines(facts: Facts): string[] {
  const { origin, around } = facts;
  const { context, typedBaseUrl } = around;
  if (context !== undefined && context !== 'sandbox' && typedBaseUrl === undefined) return [typed(facts, 'auth login')];
  if (context === 'sandbox' || isLoopback(new URL(origin).hostname))
    return ['If it is a sandbox: SOTRA_API_KEY=sandbox-key-a'];
  return [command`sotra auth login --context <name> --base-url ${origin}`];
}

function reasonOfMissing(facts: Facts, answer: Answer): Reason {
  const { endpoint, parts, request, baseUrl, around } = facts;
  const [, base = '', version] = /^(.*)\/(v\d+)\/?$/.exec(baseUrl) ?? [];
  if (version !== undefined)
    return because(`The base URL ends in /${version}, with which paths begin already.`, command`--base-url ${base}`);
  if (endpoint === undefined) {
    const asked = `${request?.method} ${new URL(request?.url ?? baseUrl).pathname}`;
    const near = findNearestPath(asked, around.endpoints);
    return because(
      `The interface has no ${asked}${near === undefined ? '' : `; the nearest is ${near}`}.`,
      'sotra openapi',
    );
  }
  const show = typed(facts, 'context show');
  if (isPage(answer)) return because('A web server answered, not the service: the base URL is another.', show);
  const asked = Object.entries(parts?.path ?? {}).map(([name, value]) => `${name} ${value}`);
  return because(
    `The service knows no ${asked.join(', ') || endpoint.path}${quote(answer)}.`,
    'Check it for a typo. Ids of one service mean nothing to another.',
    show,
  );
}

function reasonOfRefusedInput(facts: Facts, answer: Answer): Reason {
  const { endpoint, parts, around } = facts;
  const named = findNamed(facts, answer);
  if (named.includes('signature')) {
    const other = around.layout === 'five-line' ? 'blank-line' : 'five-line';
    return because(
      `The service refused the signature${quote(answer)}. It was made over the layout ${around.layout}, beginning "${around.serviceName ?? ''} Swap Comment:".`,
      `sotra comment verify --help`,
      command`sotra context set ${around.context ?? '<name>'} --layout ${other}`,
    );
  }
  const help = endpoint === undefined ? [] : [shellLine(['sotra', ...endpoint.id.split('.'), '--help'])];
  const decoded = endpoint && parts && decodeRequest(endpoint, parts, around.wire, ['all']);
  if (decoded?.ok === false) {
    const said = readError(answer) === decoded.problem ? '' : ` It said${quote(answer)}.`;
    return because(`The service refused ${decoded.problem}.${said}`, ...help);
  }
  const sent = named.map((name) => `${name} was ${findSent(parts, name) ?? 'not sent'}`);
  return because(
    `The service refused the input${quote(answer)}${sent.length === 0 ? '' : ` (${sent.join(', ')})`}.`,
    ...help,
  );
}

function reasonOfLimit({ around, atMs, ms, origin }: Facts, answer: Answer): Reason {
  const waitMs = readRetryAfter(answer.headers['retry-after'], atMs + ms);
  const wait = waitMs === undefined ? '' : ` It asks to wait ${seconds(waitMs)}.`;
  const before = around.callsBefore === 0 ? '' : ` ${around.callsBefore + 1} calls went to it within a minute.`;
  return because(`${origin} takes no more calls for now.${before}${wait}`, '--rate 2/s', '--retries 10');
}

function reasonOfBadAnswer(facts: Facts, answer: Answer): Reason {
  const title = /<title[^>]{0,200}>([^<]{1,120})/i.exec(answer.text.slice(0, 100_000))?.[1]?.trim();
  const next = [typed(facts, 'context show'), typed(facts, 'doctor')];
  const page = `The answer is a web page${title === undefined ? '' : ` ("${title}")`}: a proxy or a web server answered in place of the service.`;
  if (isPage(answer)) return because(page, ...next);
  if (answer.text.trim() === '') return because('The answer is empty, where the interface has JSON.', ...next);
  const isCutOff = /^\s*[[{]/.test(answer.text);
  return because(isCutOff ? 'The answer ends before its JSON does.' : 'The answer is not JSON.', ...next);
}

function findNotes({ answer, atMs, ms }: Facts): string[] {
  const notes: string[] = [];
  const serviceMs = Date.parse(answer?.headers['date'] ?? '');
  // The answer was on its way for a part of the time; seconds are what a date tells.
  const offMs = serviceMs - (atMs + ms);
  if (Math.abs(offMs) > 120_000)
    notes.push(
      `The clock of this machine is ${minutes(offMs)} ${offMs > 0 ? 'behind' : 'ahead of'} the service's: correct it, as signatures and times depend on it.`,
    );
  const via = answer?.headers['via'];
  if (via !== undefined) notes.push(`A proxy stands in between: ${via}.`);
  if (answer?.isCut === true) notes.push('The log holds the beginning of the answer only.');
  return notes;
}

/** The parameters that the service names in its error, as it calls them. */
function findNamed({ endpoint, around }: Facts, answer: Answer): string[] {
  const words = new Set(readError(answer).split(/[^\w]+/));
  return Object.entries(endpoint?.params ?? {}).flatMap(([key, param]) => {
    const name = wireName(endpoint as Endpoint, key, param, around.wire);
    return words.has(name) || words.has(key) ? [name] : [];
  });
}

function findSent(parts: RequestParts | undefined, name: string): string | undefined {
  const value =
    parts?.path[name] ?? parts?.query.get(name) ?? (isObject(parts?.body) ? parts.body[name] : undefined) ?? undefined;
  return value === undefined ? undefined : JSON.stringify(value).slice(0, 80);
}

function readError(answer: Answer): string {
  const body = tryParseJson(answer.text);
  return isObject(body) && typeof body['error'] === 'string' ? body['error'] : '';
}

/** `: "what the service said"`, where it said something. */
function quote(answer: Answer): string {
  const text = readError(answer) || (isPage(answer) ? '' : answer.text.trim());
  return text === '' ? '' : `: ${JSON.stringify(text.slice(0, 200))}`;
}

function isPage({ headers, text }: Answer): boolean {
  return /html/i.test(headers['content-type'] ?? '') || /^\s*<(?:!doctype|html)/i.test(text.slice(0, 200));
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

function minutes(ms: number): string {
  const whole = Math.round(Math.abs(ms) / 60_000);
  return whole < 120 ? `${whole} minutes` : `${Math.round(whole / 60)} hours`;
}
