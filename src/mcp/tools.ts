import { type Field, makeInputSchema, type Outline } from '../cli/outline.ts';
import type { JsonSchema } from '../contract/kind.ts';
import { usageError } from '../errors.ts';
import { ownTools } from './own-tools.ts';
import { type Access, defaultRows, listKnown, type SigningKey, type Tool, toolName } from './tool.ts';

export interface ToolChoice {
  names?: readonly string[] | undefined;
  allowWrites: boolean;
  signingKey: SigningKey | undefined;
  /** Files with the secrets of webhooks. */
  secretFiles: readonly string[];
}

const needs: Readonly<Record<Exclude<Access, 'read'>, string>> = {
  write: '--allow-writes',
  sign: '--allow-signing --key <name>',
};

/** The tools to offer: those that may be, or of them those that are named. Errors: `usage` for a name that is unknown or not allowed. */
export function chooseTools(
  outlines: readonly Outline[],
  { names, allowWrites, signingKey, secretFiles }: ToolChoice,
): Tool[] {
  const all = [
    ...commandTools(outlines),
    ...signingTools(outlines, signingKey ?? { key: '' }),
    ...ownTools(outlines, secretFiles),
  ];
  const isAllowed = ({ access }: Tool) =>
    access === 'read' || (access === 'write' ? allowWrites : signingKey !== undefined);
  for (const name of names ?? []) {
    const tool = all.find((each) => each.name === name);
    if (tool === undefined) {
      const known = all.map((each) => each.name);
      throw usageError(`--tools ${name}: there is no such tool`, listKnown(name, known));
    }
    if (!isAllowed(tool) && tool.access !== 'read')
      throw usageError(`--tools ${name}: may not be used`, `Add ${needs[tool.access]}.`);
  }
  return all.filter((tool) => isAllowed(tool) && (names === undefined || names.includes(tool.name)));
}

/** A tool as clients are told of it. */
export function describeTool({ name, description, access, inputSchema, ...tool }: Tool) {
  return {
    name,
    description,
    inputSchema: inputSchema as { type: 'object' },
    ...(access === 'read' && { outputSchema: answerSchema as { type: 'object' } }),
    annotations: {
      readOnlyHint: access === 'read',
      destructiveHint: tool.isDestructive === true,
      idempotentHint: tool.isIdempotent === true,
      openWorldHint: tool.isLocal !== true,
    },
  };
}

/** What the answer of a tool that reads looks like. */
const answerSchema: JsonSchema = {
  type: 'object',
  properties: { rows: { type: 'array' }, complete: { type: 'boolean' } },
  required: ['rows', 'complete'],
};

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

/** What a tool has beyond the parameters of its endpoint; a command without an endpoint is a tool where it stands here. */
const extras: Readonly<Record<string, Extra>> = {
  'leaderboard list': { columns: ['name', 'pnlUsd', 'address'] },
  'leaderboard copytraded': { columns: ['name', 'copiedUsd', 'copies', 'copiers', 'address'] },
  'token comments': { columns: ['author', 'text', 'uid'] },
  'profile positions': { columns: positionColumns },
  'token positions': { columns: ['trader', ...positionColumns.slice(3)] },
  'feed actor': { columns: feedColumns },
  'feed home': { columns: feedColumns },
  'profile set-name': { local: ['clear', 'clearAvatar'], isDestructive: true },
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
function commandTools(outlines: readonly Outline[]): Tool[] {
  return outlines.flatMap((outline) => {
    const words = outline.words.join(' ');
    const extra = extras[words];
    return byHand.includes(words) || (outline.endpoint === undefined && extra === undefined)
      ? []
      : [commandTool(outline, extra ?? {})];
  });
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
    call: async (input, call) => (await import('./run-command.ts')).runTool({ outline, fields, columns }, input, call),
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
function signingTools(outlines: readonly Outline[], key: SigningKey): Tool[] {
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
    call: async (input, call) => (await import('./run-command.ts')).runSigning({ outline, fields, key }, input, call),
  };
}
