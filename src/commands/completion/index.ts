import { local } from '../../api/endpoint.ts';
import { choice } from '../../api/kind.ts';
import { readAsset } from '../../lib/files/asset.ts';
import type { Command } from '../command.ts';

const files = { bash: 'sotra.bash', zsh: '_sotra', fish: 'sotra.fish', powershell: 'sotra.ps1' } as const;

type Shell = keyof typeof files;

const shells = Object.keys(files) as Shell[];

export function setUp(completion: Command): void {
  completion
    .description(
      'It completes commands, options, values, columns and the names stored on this machine, without network access.\n' +
        '  bash: add to ~/.bashrc: eval "$(sotra completion bash)"\n' +
        '  zsh: add to ~/.zshrc, after compinit: eval "$(sotra completion zsh)"\n' +
        '  fish: sotra completion fish > ~/.config/fish/completions/sotra.fish\n' +
        '  powershell: add to $PROFILE: sotra completion powershell | Out-String | iex',
    )
    .params({ shell: local(choice(shells), 'the shell', { positional: true }) })
    .example('completion bash', 'for bash')
    .example('completion zsh', 'for zsh')
    .run(async ({ shell }) => {
      const script = readAsset(`../completions/${files[shell]}`).toString();
      return { kind: 'answer', answer: { shell, script }, drawn: script };
    });
}
