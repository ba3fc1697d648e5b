import type { Command, Program } from './cli/command.ts';
import type { Outline } from './cli/outline.ts';

interface Commands {
  commands: readonly Command[];
}

/** Modules of commands, in the order of help: nouns of the service, then the tool itself. */
const modules: readonly (() => Promise<Commands>)[] = [
  () => import('./resources/leaderboard/index.ts'),
  () => import('./resources/profile/index.ts'),
  () => import('./resources/follow/index.ts'),
  () => import('./resources/feed/index.ts'),
  () => import('./resources/position/index.ts'),
  () => import('./resources/comment/index.ts'),
  () => import('./resources/webhook/index.ts'),
  () => import('./tool/ui.ts'),
  () => import('./tool/alias.ts'),
  () => import('./setup/auth.ts'),
  () => import('./setup/context-commands.ts'),
  () => import('./keys/commands.ts'),
  () => import('./setup/doctor.ts'),
  () => import('./tool/completion.ts'),
  () => import('./sandbox/commands/commands.ts'),
  () => import('./tool/request.ts'),
  () => import('./log/why.ts'),
  () => import('./log/commands.ts'),
  () => import('./log/bundle.ts'),
  () => import('./mcp/commands.ts'),
  () => import('./tool/openapi.ts'),
  () => import('./tool/help.ts'),
];

export type ModuleOutline = Outline & { module: number };

export function createProgram(outlines: readonly ModuleOutline[], completion: Program['completion']): Program {
  const load = async ({ words, module }: ModuleOutline) => {
    const { commands } = (await modules[module]?.()) ?? { commands: [] };
    const found = commands.find((command) => command.words.join(' ') === words.join(' '));
    if (found === undefined)
      throw new Error(`no command ${words.join(' ')} where it should be: the build is not whole`);
    return found;
  };
  return { outlines, load: (outline) => load(outline as ModuleOutline), completion };
}

/** Every command as data, in the order of help: by noun, and within a noun by endpoint. */
export async function outlineAll(): Promise<readonly ModuleOutline[]> {
  const { outlineCommand } = await import('./cli/command.ts');
  const { endpoints } = await import('./resources/index.ts');
  const ids = endpoints.map(({ id }): string => id);
  const loaded = await Promise.all(modules.map((load) => load()));
  const nouns = [...new Set(loaded.flatMap(({ commands }) => commands.map(({ words }) => words[0])))];
  const outlined = loaded.flatMap(({ commands }, module) =>
    commands.map(async (command) => ({ ...(await outlineCommand(command)), module })),
  );
  const place = ({ words, endpoint }: ModuleOutline) => [
    nouns.indexOf(words[0]),
    endpoint === undefined ? ids.length : ids.indexOf(words.join('.')),
  ];
  const before = (a: ModuleOutline, b: ModuleOutline) => {
    const [[nounA = 0, idA = 0], [nounB = 0, idB = 0]] = [place(a), place(b)];
    return nounA - nounB || idA - idB;
  };
  return (await Promise.all(outlined)).sort(before);
}
