import type { Command } from '../../src/commands/command.ts';
import { describeCommands } from '../commands.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { powershellScript } from './powershell.ts';
import { commandTree } from './tree.ts';
import { zshScript } from './zsh.ts';

/**
 * The completion script of each shell: commands, flags and values as fixed text; only names of contexts and aliases are asked of the
 * program.
 */
export function completionScripts(program: Command) {
  const tree = commandTree(describeCommands(program));
  return { bash: bashScript(tree), zsh: zshScript(tree), fish: fishScript(tree), powershell: powershellScript(tree) };
}
