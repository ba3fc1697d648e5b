import type { Command } from './command.ts';
import { bashScript } from './complete-bash.ts';
import { fishScript } from './complete-fish.ts';
import { powershellScript } from './complete-powershell.ts';
import { zshScript } from './complete-zsh.ts';
import { type CommandTree, commandTree } from './completion-tree.ts';

/** The shells that completions are written for. */
type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';

const writers: Record<Shell, (tree: CommandTree) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/**
 * The completion script of a shell: commands, flags, and values as fixed text; names of contexts and aliases are asked of the program
 * when they are wanted. Nothing is asked of the network. Throws what loading a view throws.
 */
export async function completionScript(shell: Shell, commands: readonly Command[]): Promise<string> {
  return writers[shell](await commandTree(commands));
}
