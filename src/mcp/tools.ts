import type { JsonSchema } from '../cli/input-schema.ts';
import type { Outline } from '../cli/outline.ts';
import { usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';
import { commandTools, signingTools } from './command-tools.ts';
import { ownTools } from './own-tools.ts';
import type { Access, Preset, SigningKey, Tool } from './tool.ts';

export interface ToolChoice {
  preset?: Preset | undefined;
  names?: readonly string[] | undefined;
  allowWrites: boolean;
  signingKey: SigningKey | undefined;
  /** Files with the secrets of webhooks. */
  secretFiles: readonly string[];
}

const isWebhookTool = ({ name }: Tool) => name.includes('webhook');
const forTraders =
  /^(?:leaderboard_(?:list|rank)|profile_(?:get|positions)|position|token|feed|follow|comment|explain)/;

const inPreset: Readonly<Record<Preset, (tool: Tool) => boolean>> = {
  read: (tool) => tool.access === 'read' && !isWebhookTool(tool),
  trader: ({ name }) => forTraders.test(name),
  webhooks: (tool) => isWebhookTool(tool) || tool.name === 'explain_error',
};

const needs: Readonly<Record<Exclude<Access, 'read'>, string>> = {
  write: '--allow-writes',
  sign: '--allow-signing --key <name>',
};

/** The tools to offer: those that may be, of a preset or of names. Errors: `usage` for a name that is unknown or not allowed. */
export function chooseTools(
  outlines: readonly Outline[],
  { preset, names, allowWrites, signingKey, secretFiles }: ToolChoice,
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
    if (tool === undefined) throw unknownName(name, all);
    if (!isAllowed(tool) && tool.access !== 'read')
      throw usageError(`--tools ${name}: may not be used`, `Add ${needs[tool.access]}.`);
  }
  const isWanted = preset === undefined ? () => true : inPreset[preset];
  return all.filter((tool) => isAllowed(tool) && (names === undefined ? isWanted(tool) : names.includes(tool.name)));
}

function unknownName(name: string, all: readonly Tool[]) {
  const known = all.map((tool) => tool.name);
  const near = nearest(name, known);
  return usageError(
    `--tools ${name}: there is no such tool`,
    near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`,
  );
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
