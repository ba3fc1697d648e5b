import { z } from 'zod';
import { local } from '../api/endpoint.ts';
import { type Command, defineCommand } from '../cli/command.ts';

const topics = ['exit-codes', 'environment', 'formatting', 'signing', 'webhooks'] as const;

/** A page of help that belongs to no single command. */
export type Topic = (typeof topics)[number];

/** `help <topic>`; `help <command>` is the command with --help and is turned into it before. */
const helpCommand: Command = defineCommand({
  words: ['help'],
  summary: `Explain ${topics.join(', ')}; or a command`,
  params: { topic: local(z.enum(topics), 'the topic, or the words of a command', { positional: true }) },
  examples: [
    { argv: 'help exit-codes', says: 'what each exit code means' },
    { argv: 'help environment', says: 'the variables that are read' },
  ],
  exitCodes: [],
  run: async ({ topic }, { options, world }) => {
    const { formatParts } = await import('../cli/help.ts');
    const { topicParts } = await import('./help-topic-texts.ts');
    const text = formatParts(topicParts(topic), world.io.out.width);
    return options.format === 'json' ? { kind: 'answer', answer: { topic, text } } : { kind: 'text', text };
  },
});

/** The command, as the program takes it. */
export const commands: readonly Command[] = [helpCommand];
