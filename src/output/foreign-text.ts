import type { Result } from '../cli/command.ts';
import { usageError } from '../errors.ts';
import { wholeOf } from '../http/batch.ts';
import { isEvmAddress, isSolanaAddress, isUuid } from '../model/address.ts';
import { chains } from '../model/chain.ts';
import { isObject } from '../model/json.ts';

const plainWords: ReadonlySet<string> = new Set([
  ...chains,
  ...'all unknown buy sell enter exit spot perp send receive long short open closed user unnamed backfilling active'.split(
    ' ',
  ),
  ...'deleted follow unfollow typed settings service true false yes no'.split(' '),
]);

/** Whether a text may have been written by anybody: it is neither an address, an id, a number nor a word of the interface. */
export function isForeign(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || plainWords.has(value)) return false;
  return !value.split(' ').every(isIdentifier);
}

const numberForm = /^(?:0x[\da-f]+|\d[\d.:TZdhm-]*)$/i;
/** 64 bytes in base58: a transaction on Solana. */
const signatureForm = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/;

function isIdentifier(text: string): boolean {
  return (
    isEvmAddress(text) || isSolanaAddress(text) || isUuid(text) || numberForm.test(text) || signatureForm.test(text)
  );
}

/** Where such texts are in an answer, as jq filters, each once: `.data.traders[].profile.name`. */
function foreignPaths(answer: unknown, at: string): string[] {
  const paths = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
    else if (isObject(value)) for (const [key, inner] of Object.entries(value)) walk(inner, path + stepTo(key));
    else if (isForeign(value)) paths.add(path);
  };
  walk(answer, at);
  return [...paths];
}

/** A key that is an identifier is one of many: all of them are meant. */
function stepTo(key: string): string {
  if (/^[a-z_]\w*$/i.test(key)) return isIdentifier(key) ? '[]' : `.${key}`;
  return isIdentifier(key) ? '[]' : `[${JSON.stringify(key)}]`;
}

/** The JSON in an envelope: what came as `data`, and what is known of it as `meta`. Errors: `usage` for what has no end. */
export async function withMeta(result: Result): Promise<Result> {
  if (result.kind === 'items') {
    if (result.live) throw usageError('--meta: this prints one object after another, without an end', 'Omit it.');
    return withMeta({ kind: 'answer', ...(await wholeOf(result.batches)) });
  }
  if (result.kind !== 'answer') return result;
  const { answer: data, view: _, ...rest } = result;
  const meta = { untrusted: foreignPaths(data, '.data') };
  const text = `{"data":${result.text ?? JSON.stringify(data)},"meta":${JSON.stringify(meta)}}`;
  return { ...rest, answer: { data, meta }, text };
}

const hidden = '(hidden: NSFW)';

/** An answer without the names and handles that the service flags as NSFW; as it is where none is. Section "Profile": clients decide. */
export function withoutFlagged<T>(answer: T): T {
  return hideFlagged(answer) as T;
}

function hideFlagged(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(hideFlagged);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isObject(value) || !isPlain(value)) return value;
  let shown = value;
  const show = (key: string, text: unknown): void => {
    if (shown === value) shown = { ...value };
    shown[key] = text;
  };
  for (const key in value) {
    const inner = hideFlagged(value[key]);
    if (inner !== value[key]) show(key, inner);
  }
  const { actor, metadata } = value;
  if (isFlagged(value)) {
    if ('name' in value) show('name', hidden);
    if (value['isNSFW'] !== undefined && isObject(metadata)) show('metadata', withoutTexts(metadata));
  }
  // The title of a card is the name of its trader.
  if (isObject(actor) && isFlagged(actor) && 'itemTitle' in value) show('itemTitle', hidden);
  return shown;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isFlagged({ isNSFW, profile }: Record<string, unknown>): boolean {
  return (isObject(isNSFW) && isNSFW['nsfwText'] === true) || (isObject(profile) && isFlagged(profile));
}

function withoutTexts(handles: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(handles).map(([key, value]) => [key, typeof value === 'string' ? hidden : value]),
  );
}
