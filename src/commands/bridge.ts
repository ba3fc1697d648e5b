import type { Command as Value } from '../cli/command.ts';
import type { Command } from './command.ts';

/** Adds commands that are still values, until their group has moved. */
export function addValues(
  ...loads: (() => Promise<{ commands: readonly Value[] }>)[]
): () => Promise<(group: Command) => void> {
  return async () => {
    const commands = (await Promise.all(loads.map((load) => load()))).flatMap((each) => each.commands);
    const views = new Map(await Promise.all(commands.map(async (value) => [value, await value.view?.()] as const)));
    return (group) => {
      for (const value of commands.filter(({ words }) => words[0] === group.name())) {
        const [, name] = value.words;
        if (value.words.length === 1 && commands.some(({ words }) => words[0] === group.name() && words.length > 1))
          continue;
        const command =
          name === undefined ? group : group.command(name, { isDefault: value.words.join(' ') === 'history list' });
        const says = [
          value.description?.replaceAll(/(?<![.:?!])\n/g, ' '),
          value.confirms && 'Asks on a terminal; elsewhere --yes is needed.',
          value.endpoint && `Sends ${value.endpoint.method} ${value.endpoint.path}.`,
        ];
        command.summary(value.summary).description(says.filter((line) => line !== undefined).join('\n'));
        command.endpoint = value.endpoint;
        const typed = command.params(value.params, value.oneOf);
        for (const { argv, says: does } of value.examples) typed.example(argv, does);
        if (value.confirms !== undefined) typed.confirms(value.confirms as (input: unknown) => string);
        const uses = (...names: string[]) => value.uses.some((use) => names.includes(use));
        if (uses('requests')) typed.requests();
        if (uses('changes')) typed.changes();
        if (uses('events')) typed.shares('dryRun', 'curl', 'timeout');
        if (uses('answers')) typed.shares('timeout');
        if (uses('repeats')) typed.shares('retries');
        const view = views.get(value);
        if (view !== undefined || uses('json')) typed.prints(view);
        if (view !== undefined && value.endpoint?.method === 'GET') typed.shares('showNsfw');
        typed.run(value.run as never);
      }
    };
  };
}
