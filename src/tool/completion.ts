import { type Command, defineCommand } from '../cli/command.ts';
import { shells } from '../cli/outline.ts';
import { local } from '../contract/endpoint.ts';
import { choice } from '../contract/kind.ts';

const completion = defineCommand({
  words: ['completion'],
  summary: 'Print the completion script of a shell',
  description:
    'bash        eval "$(sotra completion bash)" in ~/.bashrc\n' +
    'zsh         eval "$(sotra completion zsh)" in ~/.zshrc after compinit, or as the file _sotra in a folder of $fpath\n' +
    'fish        sotra completion fish > ~/.config/fish/completions/sotra.fish\n' +
    'powershell  sotra completion powershell | Out-String | Invoke-Expression in $PROFILE\n' +
    'Commands, flags, values, columns, contexts, aliases, keys, uploads and their webhooks are completed without the network.',
  params: { shell: local(choice(shells), 'the shell', { positional: true }) },
  examples: [
    { argv: 'completion bash', says: 'for bash' },
    { argv: 'completion zsh', says: 'for zsh' },
  ],
  uses: ['json'],
  exitCodes: [],
  run: async ({ shell }, { options, program }) => {
    const script = await program.completion(shell);
    if (options.format === 'json') return { kind: 'answer', answer: { shell, script } };
    return { kind: 'text', text: script };
  },
});

export const commands: readonly Command[] = [completion];
