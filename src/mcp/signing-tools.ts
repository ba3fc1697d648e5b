import { inputSchemaOf } from '../cli/input-schema.ts';
import type { Field, Outline } from '../cli/outline.ts';
import { toolName } from './command-tools.ts';
import type { SigningKey, Tool } from './tool.ts';

const deeds: Readonly<Record<string, string>> = {
  'comment sign': 'Sign a comment on a swap; the user is shown the text first',
  'comment post': 'Sign a comment on a swap and post it; the user is shown the text first',
};

const inputs = ['chain', 'transactionHash', 'tokenAddress', 'commentText'];

/** Signing and posting with one key; each time the user sees the exact text first. */
export function signingTools(outlines: readonly Outline[], key: SigningKey): Tool[] {
  return outlines.flatMap((outline) => {
    const description = deeds[outline.words.join(' ')];
    return description === undefined ? [] : [signingTool(outline, description, key)];
  });
}

function signingTool(outline: Outline, description: string, key: SigningKey): Tool {
  const fields = outline.fields
    .filter((field) => inputs.includes(field.key))
    .map((field): Field => ({ ...field, label: field.key, kind: { ...field.kind, optional: false } }));
  return {
    name: toolName(outline.words),
    description,
    access: 'sign',
    inputSchema: inputSchemaOf(fields),
    call: async (input, call) => (await import('./run-signing.ts')).runSigning({ outline, fields, key }, input, call),
  };
}
