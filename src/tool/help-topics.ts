import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import type { Part } from '../cli/help.ts';
import { local } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import { nearest } from '../model/nearest.ts';

const topics = ['exit-codes', 'environment', 'formatting', 'signing', 'webhooks'] as const;

/** A page of help that belongs to no single command. */
export type Topic = (typeof topics)[number];

/** `help <topic>`; `help <command>` is the command with --help and is turned into it before. */
const helpCommand: Command = defineCommand({
  words: ['help'],
  summary: `Explain ${topics.join(', ')}; or a command`,
  params: {
    topic: local(
      z.union([z.enum(topics), z.string()]),
      'the topic; also an exit code, an error code or the words of a command',
      { positional: true },
    ),
  },
  examples: [
    { argv: 'help exit-codes', says: 'what each exit code means' },
    { argv: 'help rate-limited', says: 'one error code, or exit code (help 7), and what helps' },
  ],
  uses: ['json'],
  exitCodes: [],
  run: async ({ topic }, { options, world }) => {
    const { formatParts } = await import('../cli/help.ts');
    const text = formatParts(await partsOf(topic), world.io.out.width);
    return options.format === 'json' ? { kind: 'answer', answer: { topic, text } } : { kind: 'text', text };
  },
});

async function partsOf(topic: string): Promise<readonly Part[]> {
  const { topicParts } = await import('./help-topic-texts.ts');
  const known = topics.find((each) => each === topic);
  if (known !== undefined) return topicParts(known);
  const { errorPage, errorWords } = await import('./error-texts.ts');
  const page = errorPage(topic);
  if (page !== undefined) return page;
  const near = nearest(topic, [...topics, ...errorWords]);
  throw usageError(
    `no help on '${topic}'`,
    near === undefined
      ? `Topics: ${topics.join(', ')}; an exit code such as 7; or the words of a command.`
      : `Did you mean ${near}?`,
  );
}

/** The command, as the program takes it. */
export const commands: readonly Command[] = [helpCommand];
