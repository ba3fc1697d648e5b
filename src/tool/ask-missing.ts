import { serviceFlags } from '../cli/globals.ts';
import type { Field, Outline, TypedInput } from '../cli/outline.ts';
import type { Context } from '../context.ts';
import { tryParseJson } from '../model/json.ts';
import { pick } from '../output/pick.ts';

interface Listed {
  value: string;
  /** What stands beside the value. */
  says: string;
}

/** Where the values of a field are listed: a command line with `--json`, and what its answer holds. */
interface Source {
  argv: readonly string[];
  asksService?: true;
  read: (answer: never) => readonly Listed[];
}

const traders: Source = {
  argv: ['leaderboard', 'list', '--limit', '50'],
  asksService: true,
  read: (answer: { traders: { profile: { name?: string | null; addresses: string[] } }[] }) =>
    answer.traders.map(({ profile }) => ({ value: profile.addresses[0] ?? '', says: profile.name ?? '' })),
};
const webhooks: Source = {
  argv: ['webhook', 'list'],
  asksService: true,
  read: (answer: { uid: string; destinationUrl: string }[]) =>
    answer.map(({ uid, destinationUrl }) => ({ value: uid, says: destinationUrl })),
};
const jobs: Source = {
  argv: ['webhook', 'jobs'],
  read: (answer: { job: string; task: string; destinationUrl: string }[]) =>
    answer.map(({ job, task, destinationUrl }) => ({ value: job, says: `${task} ${destinationUrl}` })),
};
const keys: Source = {
  argv: ['key', 'list'],
  read: (answer: { name: string; address?: string }[]) =>
    answer.map(({ name, address = '' }) => ({ value: name, says: address })),
};
const contexts: Source = {
  argv: ['context', 'list'],
  read: (answer: { contexts: { name: string; baseUrl: string | null }[] }) =>
    answer.contexts.map(({ name, baseUrl }) => ({ value: name, says: baseUrl ?? '' })),
};

function findSource({ words: [noun, verb] }: Outline, { flag, identifier }: Field): Source | undefined {
  if (noun === 'context') return verb === 'use' || verb === 'remove' ? contexts : undefined;
  if (noun === 'key') return verb === 'remove' || verb === 'export' ? keys : undefined;
  if (noun === 'webhook' && flag === 'uid') return webhooks;
  if (flag === 'job') return jobs;
  return identifier === true ? traders : undefined;
}

/**
 * What was typed, with what is missing picked on the terminal: choices, traders, webhooks, keys, uploads and contexts. As it was where
 * something is missing that no list has.
 */
export async function askMissing(outline: Outline, typed: TypedInput, context: Context): Promise<TypedInput> {
  const missing = outline.fields.filter(({ key, kind }) => !kind.optional && typed[key] === undefined);
  const asked = missing.map((field) => ({ field, source: findSource(outline, field) }));
  if (asked.some(({ field, source }) => source === undefined && field.kind.choices.length === 0)) return typed;
  let picked = typed;
  for (const { field, source } of asked) {
    const plain = field.kind.choices.map((value) => ({ value, says: '' }));
    const choices = source === undefined ? plain : await listChoices(source, context);
    const lines = choices.map(({ value, says }) => ({ value, line: `${value}  ${says}` }));
    const value = lines.length === 0 ? undefined : await pick(`${field.label}, ${field.help}`, lines, context.world);
    if (value === undefined) return typed;
    picked = { ...picked, [field.key]: field.kind.list ? [value] : value };
  }
  return picked;
}

async function listChoices(
  { argv, asksService, read }: Source,
  { world, options, runLine }: Context,
): Promise<readonly Listed[]> {
  let printed = '';
  const write = async (text: string) => {
    printed += text;
  };
  const silence = async () => undefined;
  const sink = { isTTY: false, width: 80, colorLevel: 0, write: silence, draw: silence } as const;
  const io = { in: world.io.in, ask: world.io.ask, err: sink, out: { ...sink, write } };
  const service = asksService ? serviceFlags(options) : [];
  const code = await runLine([...argv, ...service, '--json', '--quiet'], { ...world, io }).catch(() => 1);
  return code === 0 ? read(tryParseJson(printed) as never) : [];
}
