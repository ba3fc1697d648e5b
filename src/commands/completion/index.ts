import { local } from '../../api/endpoint.ts';
import { choice } from '../../api/kind.ts';
import { type Command, defineCommand } from '../../cli/command.ts';
import { readAsset } from '../../files/asset.ts';

const files = { bash: 'sotra.bash', zsh: '_sotra', fish: 'sotra.fish', powershell: 'sotra.ps1' } as const;

type Shell = keyof typeof files;

const shells = Object.keys(files) as Shell[];

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
  run: async ({ shell }, { options }) => {
    const script = readAsset(`../completions/${files[shell]}`).toString();
    if (options.format === 'json') return { kind: 'answer', answer: { shell, script } };
    return { kind: 'text', text: script };
  },
});

export const commands: readonly Command[] = [completion];
