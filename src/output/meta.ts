import type { Result } from '../cli/command.ts';
import { usageError } from '../errors.ts';
import { textsOf } from '../http/batch.ts';
import { foreignPaths } from './foreign-text.ts';

/** The JSON in an envelope: what came as `data`, and what is known of it as `meta`. Errors: `usage` for what has no end. */
export async function withMeta(result: Result): Promise<Result> {
  if (result.kind === 'items') {
    if (result.live) throw usageError('--meta: this prints one object after another, without an end', 'Omit it.');
    const batches: (readonly unknown[])[] = [];
    for await (const batch of result.batches) batches.push(batch);
    return withMeta({ kind: 'answer', answer: batches.flat(), text: `[${batches.flatMap(textsOf).join(',')}]` });
  }
  if (result.kind !== 'answer') return result;
  const { answer: data, view: _, ...rest } = result;
  const meta = { untrusted: foreignPaths(data, '.data') };
  const text = `{"data":${result.text ?? JSON.stringify(data)},"meta":${JSON.stringify(meta)}}`;
  return { ...rest, answer: { data, meta }, text };
}
