import { column, recordView } from '../../lib/output/columns.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';
import type { BundleSummary } from './write.ts';

export function setUp(bundle: Command): void {
  bundle
    .description(
      'The file has version, settings, the result of doctor and the last failed calls with their responses. ' +
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

const bundleView = recordView<BundleSummary>([
  column.text('sotra', 'Version', 'version of sotra, Node and the system'),
  column.text('settings', 'Settings', 'number of contexts and aliases, without their secrets'),
  column.text('doctor', 'Doctor', 'result of sotra doctor'),
  column.count('failedCalls', 'Failed calls', 'number of failed calls, included with their responses'),
  column.text('last', 'Last one', 'the last failed call', { cut: true }),
  column.count('bytes', 'Bytes', 'size of the file'),
  column.text('file', 'File', 'the file; read it before you send it'),
]);
