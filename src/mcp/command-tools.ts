import { type JsonSchema, makeInputSchema } from '../cli/input-schema.ts';
import type { Field, Outline } from '../cli/outline.ts';
import { type Access, defaultRows, type SigningKey, type Tool } from './tool.ts';

/** What a command gives to its tool beside the inputs that are sent. */
interface Extra {
  /** Inputs that are never sent themselves. */
  local?: readonly string[];
  /** Of these, those that a call cannot do without. */
  required?: readonly string[];
  /** The columns of an answer whose fields were not chosen; default: those that the narrowest table has. */
  columns?: readonly string[];
  isDestructive?: true;
  isLocal?: true;
}

const positionColumns = ['token', 'chain', 'side', 'realizedUsd', 'amount', 'costUsd', 'lastTradeAt', 'itemId'];
const feedColumns = ['lastTradeAt', 'trader', 'token', 'chain', 'latest', 'realizedUsd', 'itemId'];

/** Commands that are tools though they are no endpoint, or more than one; `comment post` and `follow bulk` are written by hand. */
const extras: Readonly<Record<string, Extra>> = {
  'profile positions': { columns: positionColumns },
  'token positions': { columns: ['trader', ...positionColumns.slice(3)] },
  'feed actor': { columns: feedColumns },
  'feed home': { columns: feedColumns },
  'profile set-name': { isDestructive: true },
  'profile delete-name': { isDestructive: true },
  'follow remove': { isDestructive: true },
  'comment copy': { local: ['trackExitUntil'] },
  'webhook register': { local: ['url', 'walletAddresses'], required: ['walletAddresses'] },
  'webhook add-addresses': { local: ['walletAddresses'], required: ['walletAddresses'] },
  'webhook delete': { isDestructive: true },
  'webhook events': { local: ['type', 'since', 'limit', 'name'], isLocal: true },
};

const byHand = ['comment post', 'follow bulk'];

/** The tools that are commands: one an endpoint, and those of `extras`. */
export function commandTools(outlines: readonly Outline[]): Tool[] {
  return outlines.flatMap((outline) => {
    const words = outline.words.join(' ');
    const extra = extras[words];
    return byHand.includes(words) || (outline.endpoint === undefined && extra === undefined)
      ? []
      : [commandTool(outline, extra ?? {})];
  });
}

export function toolName(words: readonly string[]): string {
  return words.join('_').replaceAll('-', '_');
}

function commandTool(outline: Outline, { local = [], required = [], columns, isDestructive, isLocal }: Extra): Tool {
  const method = outline.endpoint?.method ?? 'GET';
  const access: Access = method === 'GET' ? 'read' : 'write';
  const fields = outline.fields
    .filter(({ key, source }) => source !== 'local' || local.includes(key))
    .map((field): Field => {
      const kind = required.includes(field.key) ? { ...field.kind, optional: false } : field.kind;
      return { ...field, kind, label: field.key, whole: true };
    });
  return {
    name: toolName(outline.words),
    // What follows is about the command line.
    description: outline.summary.split(';')[0] ?? '',
    access,
    ...(isDestructive && { isDestructive }),
    isIdempotent: method !== 'POST',
    ...(isLocal && { isLocal }),
    inputSchema: access === 'read' ? withShownInputs(makeInputSchema(fields)) : makeInputSchema(fields),
    call: async (input, call) =>
      (await import('./run-command.ts')).runCommand({ outline, fields, columns }, input, call),
  };
}

/** `fields` and `limit` choose what is shown of an answer. */
function withShownInputs(schema: JsonSchema): JsonSchema {
  const { limit, ...own } = schema['properties'] as Record<string, JsonSchema>;
  const shown = {
    limit: { ...(limit ?? { type: 'integer', minimum: 1 }), default: defaultRows },
    fields: { type: 'array', items: { type: 'string' }, description: 'columns' },
  };
  return { ...schema, properties: { ...own, ...shown } };
}

const signingTexts: Readonly<Record<string, string>> = {
  'comment sign': 'Sign a comment on a swap; the user is shown the text first',
  'comment post': 'Sign a comment on a swap and post it; the user is shown the text first',
};

const signedInputs = ['chain', 'transactionHash', 'tokenAddress', 'commentText'];

/** Signing and posting with one key; each time the user sees the exact text first. */
export function signingTools(outlines: readonly Outline[], key: SigningKey): Tool[] {
  return outlines.flatMap((outline) => {
    const description = signingTexts[outline.words.join(' ')];
    return description === undefined ? [] : [signingTool(outline, description, key)];
  });
}

function signingTool(outline: Outline, description: string, key: SigningKey): Tool {
  const fields = outline.fields
    .filter((field) => signedInputs.includes(field.key))
    .map((field): Field => ({ ...field, label: field.key, kind: { ...field.kind, optional: false } }));
  return {
    name: toolName(outline.words),
    description,
    access: 'sign',
    inputSchema: makeInputSchema(fields),
    call: async (input, call) => (await import('./run-signing.ts')).runSigning({ outline, fields, key }, input, call),
  };
}
