import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { bundleView } from './view.ts';

export function addBundle(bundle: Command): void {
  bundle
    .description(
      'The file has version, settings, the result of doctor, parameter names and the last failed commands with their responses. ' +
        'API keys and webhook secrets are replaced by ***. It is also an HTTP archive (HAR), which browsers can open.',
    )
    .params({ out: option.file('file to write (default: sotra-bundle-<time>.json)') })
    .changes()
    .shares('timeout', 'retries')
    .prints(bundleView)
    .example('--sandbox bundle', 'write sotra-bundle-<time>.json')
    .example('--sandbox bundle --out ticket.json --yes', 'replace an existing file')
    .run(async ({ out }, context) => (await import('./write.ts')).writeBundle(out, context));
}
