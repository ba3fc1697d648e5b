import { parseJson } from '../../../model/json.ts';
import {
  hasSignature,
  includesSignature,
  matchingSecret,
  type SignatureHeader,
  sameText,
  signBody,
} from '../../../model/webhook-signature.ts';

/** What is tried has limits, since the body may be anybody's: larger bodies are not changed, and larger changes of them are not made. */
const maxBodyBytes = 8 * 1024 * 1024;
const maxRewrittenLength = 4 * maxBodyBytes;
/** About a second. */
const maxHashedBytes = 1024 ** 3;

/** Why no signature fits a body: tries the usual mistakes, and names one only where it explains the signature. */
export function reasonFor(parsed: SignatureHeader, body: Uint8Array, secrets: readonly string[]): string {
  let hashed = 0;
  const fits = (candidate: Uint8Array, by: readonly (string | Uint8Array)[]): boolean => {
    hashed += candidate.length * by.length;
    return hashed <= maxHashedBytes && matchingSecret(parsed, candidate, by) !== -1;
  };
  for (const [reason, spell] of spellings) if (fits(body, secrets.map(spell))) return reason;
  const encoding = encodingReason(parsed, body, secrets);
  if (encoding !== undefined) return encoding;
  if (body.length > maxBodyBytes) return `${general}; the body is too large to look for what was changed`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  for (const [reason, candidate] of changes(text))
    if (candidate !== text && fits(Buffer.from(candidate), secrets)) return reason;
  const json = jsonOf(text);
  if (json === undefined) return 'body changed: it is not whole JSON, and no signature fits it';
  for (const form of serializations(json.value))
    for (const candidate of [form, `${form}\n`])
      if (candidate !== text && fits(Buffer.from(candidate), secrets)) return reserialized;
  return general;
}

const general = 'wrong secret or body changed: no signature in the header fits this body under the given secrets';
const reserialized = 're-serialized JSON: the body was parsed and written anew; verify the bytes as they came';

const spellings: readonly [reason: string, spell: (secret: string) => Uint8Array | string][] = [
  ['wrong secret: it fits with a line end behind it, as it was stored with one', (secret) => `${secret}\n`],
  ['wrong secret: it must be used as the text it is, and was decoded as hex', (secret) => Buffer.from(secret, 'hex')],
  [
    'wrong secret: it must be used as the text it is, and was decoded as base64',
    (secret) => Buffer.from(secret, 'base64'),
  ],
  [
    'wrong secret: it must be used whole, and lost its prefix',
    (secret) => (secret.includes('_') ? secret.slice(secret.indexOf('_') + 1) : secret),
  ],
];

/** What may have become of a body on its way, undone; one at a time, since each is as large as the body. */
function* changes(text: string): Generator<[reason: string, candidate: string]> {
  yield ['body changed: a line end was added behind it', text.replace(/\r?\n$/, '')];
  yield ['body changed: the line end behind it was lost', `${text}\n`];
  yield ['body changed: its line ends were changed', text.replaceAll('\r\n', '\n')];
  yield ['body changed: its line ends were changed', text.replaceAll(/\r?\n/g, '\r\n')];
  yield ['body changed: a byte order mark was added', text.replace(/^\uFEFF/, '')];
}

function jsonOf(text: string): { value: unknown } | undefined {
  try {
    return { value: parseJson(text.replace(/^\uFEFF/, '')) };
  } catch {
    return undefined;
  }
}

/** The ways a body may have been written before somebody parsed it; one at a time. */
function* serializations(value: unknown): Generator<string> {
  const compact = JSON.stringify(value);
  yield compact;
  yield compact.replaceAll('/', '\\/');
  yield compact.replaceAll(/[\u0080-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
  for (const indent of [2, 4])
    if (indentedLength(compact, indent) <= maxRewrittenLength) yield JSON.stringify(value, null, indent);
  // On one line with a blank after each colon and comma, as Python writes it: a line end in JSON is never part of a string.
  if (indentedLength(compact, 1) <= maxRewrittenLength)
    yield JSON.stringify(value, null, 1).replaceAll(/(,?)\n */g, (_, comma) => (comma === '' ? '' : ', '));
}

/** Characters of a compact JSON text once it is indented, at most: of deep nesting, the square of the text. */
function indentedLength(compact: string, indent: number): number {
  let [length, depth, inString] = [compact.length, 0, false];
  for (let at = 0; at < compact.length; at += 1) {
    const mark = compact[at];
    if (inString && mark === '\\') at += 1;
    else if (mark === '"') inString = !inString;
    else if (!inString && mark !== undefined && '[{]},:'.includes(mark)) {
      if (mark === '[' || mark === '{') depth += 1;
      if (mark === ']' || mark === '}') depth -= 1;
      length += 1 + indent * depth;
    }
  }
  return length;
}

function encodingReason(parsed: SignatureHeader, body: Uint8Array, secrets: readonly string[]): string | undefined {
  for (const secret of secrets) {
    const wanted = signBody(secret, parsed.timestamp, body);
    const digest = Buffer.from(wanted, 'base64url');
    const given = parsed.signatures.map((each) => each.toLowerCase());
    if (includesSignature(given, digest.toString('hex')))
      return 'malformed header: the signature is hex and must be base64url without padding';
    const unpadded = parsed.signatures.map((each) => each.replaceAll('=', ''));
    if ([wanted, digest.toString('base64').slice(0, 43)].some((form) => includesSignature(unpadded, form)))
      return 'malformed header: the signature is base64 and must be base64url without padding';
    const isStart = (each: string) =>
      each.length >= 8 && each.length < 43 && sameText(each, wanted.slice(0, each.length));
    if (parsed.signatures.some(isStart)) return 'malformed header: the signature is cut off';
  }
  return hasSignature(parsed) ? undefined : 'malformed header: no v1= is a signature (43 characters of base64url)';
}
