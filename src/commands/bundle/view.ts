import { column, recordView } from '../../lib/output/columns.ts';

export interface BundleSummary {
  sotra: string;
  settings: string;
  doctor: string;
  failedCalls: number;
  last: string | null;
  bytes: number;
  file: string;
}

export const bundleView = recordView<BundleSummary>([
  column.text('sotra', 'Version', 'version of sotra, Node and the system'),
  column.text('settings', 'Settings', 'number of contexts and aliases, without their secrets'),
  column.text('doctor', 'Doctor', 'result of sotra doctor'),
  column.count('failedCalls', 'Failed calls', 'number of failed calls, included with their responses'),
  column.text('last', 'Last one', 'the last failed call', { cut: true }),
  column.count('bytes', 'Bytes', 'size of the file'),
  column.text('file', 'File', 'the file; read it before you send it'),
]);
