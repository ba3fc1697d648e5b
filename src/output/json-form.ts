import { collectItems } from '../model/batches.ts';
import type { Form } from './form.ts';
import type { JqFilter } from './jq.ts';
import { indentJson, safeJson } from './json.ts';

/** An answer as it came, indented; a list once its last row has come, since it must be whole or absent. */
export const jsonForm: Form = async function* ({ batches, answer }) {
  if (answer?.json !== undefined) {
    yield `${safeJson(indentJson(answer.json))}\n`;
    return;
  }
  const pages: string[] = [];
  for await (const batch of batches) if (batch.length > 0) pages.push(indentJson(JSON.stringify(batch)).slice(1, -2));
  if (pages.length === 0) yield '[]\n';
  for (const [index, items] of pages.entries()) yield (index === 0 ? '[' : ',') + safeJson(items);
  if (pages.length > 0) yield '\n]\n';
};

/** One object a line. */
export const ndjsonForm: Form = async function* ({ batches }) {
  for await (const batch of batches)
    yield listLines(batch)
      .map((line) => `${safeJson(line)}\n`)
      .join('');
};

/** What a jq filter makes of the JSON: of the whole, or of each item. */
export function jqForm(filter: JqFilter, { byItem, indent }: { byItem: boolean; indent: boolean }): Form {
  const run = (json: string) => filter.run(json, { indent: indent && !byItem });
  return async function* ({ batches, answer }) {
    if (!byItem) yield await run(answer?.json ?? JSON.stringify(await collectItems(batches)));
    else for await (const batch of batches) if (batch.length > 0) yield await run(listLines(batch).join('\n'));
  };
}

/** The JSON of each row. */
function listLines(batch: readonly unknown[]): string[] {
  return batch.map((row) => JSON.stringify(row ?? null));
}
