import { commandTree } from './completion-tree.ts';
import type { Outline, Shell } from './outline.ts';

const writers = {
  bash: async () => (await import('./complete-bash.ts')).bashScript,
  zsh: async () => (await import('./complete-zsh.ts')).zshScript,
  fish: async () => (await import('./complete-fish.ts')).fishScript,
  powershell: async () => (await import('./complete-powershell.ts')).powershellScript,
};

/**
 * The completion script of a shell: commands, flags, and values as fixed text; names of contexts and aliases are asked of the program
 * when they are wanted. Nothing is asked of the network.
 */
export async function completionScript(shell: Shell, commands: readonly Outline[]): Promise<string> {
  const write = await writers[shell]();
  return write(commandTree(commands));
}
