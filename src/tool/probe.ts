import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import type { Context } from '../context.ts';
import { local, type WireNames } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import type { View } from '../output/view.ts';
import type { Finding } from './probe-run.ts';

interface Report {
  baseUrl: string;
  calls: number;
  names: readonly Finding[];
  /** What a context would have to override. */
  wire: WireNames;
}

const tones = { 'as assumed': 'gain', 'other name': 'strong', 'not found': 'loss', 'cannot tell': 'muted' } as const;

const view: View<Report, Finding> = {
  layout: 'table',
  rows: ({ names }) => names,
  columns: [
    { key: 'parameter', header: 'Parameter', help: 'endpoint and parameter', value: (row) => row.parameter },
    { key: 'assumed', header: 'Asked as', help: 'the name asked with first', value: (row) => row.assumed, extra: true },
    {
      key: 'verdict',
      header: 'Found',
      help: 'as assumed, other name, not found, or cannot tell',
      value: (row) => row.verdict,
      show: ({ verdict, name }) => ({
        text: verdict === 'other name' ? `other: ${name}` : verdict,
        tone: tones[verdict],
      }),
    },
    { key: 'name', header: 'Heard as', help: 'the name that the service hears', value: (row) => row.name, drop: 1 },
    { key: 'evidence', header: 'Evidence', help: 'what showed it', value: (row) => row.evidence, cut: 'end' },
    { key: 'source', header: 'From', help: 'public or assumed', value: (row) => row.source, extra: true },
  ],
  notes: ({ calls, wire, baseUrl }) => {
    const count = Object.keys(wire).length;
    const more = count === 0 ? '' : `; ${count} go by another name: --save keeps them in the context`;
    return [`${calls} requests to ${baseUrl}, all of them reads${more}.`];
  },
};

/** `probe`: which of the names that are not from the interface document a deployment honors, by behavior. */
const probeCommand: Command = defineCommand({
  words: ['probe'],
  summary: 'Find out which parameter names a deployment honors, by what its answers do',
  description:
    'For each name that the interface document does not give: asks with it and looks whether the answer changes as it must, then\n' +
    'tries other names. It only reads. What cannot be told by reading is said, not guessed.',
  params: {
    save: local(z.boolean().optional(), 'write the names that differ into the context'),
    try: local(
      z.array(z.string().regex(/^\w+=[\x21-\x7e]+$/, 'must be parameter=name, such as limit=howMany')).optional(),
      'also try this name for a parameter: limit=howMany',
    ),
  },
  examples: [
    { argv: '--sandbox probe', says: 'the names of the sandbox, all as assumed' },
    { argv: '--sandbox probe --json --jq .wire', says: 'what a context would have to override' },
  ],
  uses: ['requests'],
  exitCodes: [3, ...serviceExitCodes],
  view: async () => view,
  run: async ({ save, try: typed }, context) => {
    const { context: name, baseUrl, wire: before } = await context.service();
    if (save && name === undefined)
      throw usageError('--save: no context is in use', 'Make one with sotra context set, and name it with --context.');
    const { probeNames } = await import('./probe-run.ts');
    const { findings, calls } = await probeNames(context, readTries(typed ?? []));
    const changed = findings.filter((one) => one.verdict === 'other name');
    const wire = { ...before, ...Object.fromEntries(changed.map((one) => [one.parameter, one.name ?? one.assumed])) };
    if (save && name !== undefined) await keep(name, wire, context);
    const report: Report = { baseUrl, calls, names: findings, wire };
    return { kind: 'answer', answer: report, view };
  },
});

function readTries(typed: readonly string[]): Record<string, string[]> {
  const tries: Record<string, string[]> = {};
  for (const text of typed) {
    const [key = '', name = ''] = [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)];
    tries[key] = [...(tries[key] ?? []), name];
  }
  return tries;
}

async function keep(name: string, wire: WireNames, context: Context): Promise<void> {
  const store = await context.store();
  await store.update(context.world, (settings) => ({
    ...settings,
    contexts: { ...settings.contexts, [name]: { ...settings.contexts[name], wire } },
  }));
  context.note(`Context ${name} has ${Object.keys(wire).length} names of its own now.`);
}

/** The command, as the program takes it. */
export const commands: readonly Command[] = [probeCommand];
