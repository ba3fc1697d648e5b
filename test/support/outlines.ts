import { type Command, CommanderError } from 'commander';
import { describeCommands } from '../../scripts/commands.ts';
import { loadProgram } from '../../src/cli.ts';
import { describeSharedOptions, programOptions } from '../../src/commands/options.ts';
import { loadViews } from '../../src/commands/run-command.ts';

const sink = { width: 80, isTTY: false, hasColors: false, write: async () => undefined, draw: async () => undefined };

const load = () => loadProgram({ out: sink, err: sink, version: '0.0.0-test' } as never);

const program = await load();

/** Every command as data. */
export const outlines = describeCommands(program);

/** The rows and columns of each endpoint's answer. */
export const views = await loadViews(program);

/** Reads a command line as the program does, and runs nothing. Errors: `usage`. */
export async function parseLine(argv: readonly string[]): Promise<void> {
  const program = await load();
  const disarm = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => undefined);
    command.commands.forEach(disarm);
  };
  disarm(program);
  await program.parseAsync(argv, { from: 'user' }).catch((thrown: unknown) => {
    if (!(thrown instanceof CommanderError)) throw thrown;
  });
}

export type Outline = (typeof outlines)[number];

const toFlag = ({ long = '', required }: { long?: string; required: boolean }) => ({
  flag: long.slice(2),
  takesValue: required,
});

/** The options of the program. */
export const programFlags = programOptions().map(toFlag);

/** Those, and the ones that many commands share. */
export const globalFlags = [...programFlags, ...describeSharedOptions().map(toFlag)];

/** The options that a command takes beside its own, without dashes. */
export function takenFlags({ shared }: Outline): string[] {
  return [...programFlags, ...shared.map(toFlag)].map(({ flag }) => flag);
}

/** What the examples read from stdin. */
export const exampleStdin = '{"addressOrUid":"ext:user_1","targets":["0xb129d76820940a14c764df8b223d8e39cf94a122"]}';
