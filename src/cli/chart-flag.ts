import { z } from 'zod';
import { local } from '../contract/endpoint.ts';
import { usageError } from '../errors.ts';
import type { GlobalOptions } from './globals.ts';

/** The flag of commands whose view has a chart. */
export const chartParam = local(z.boolean().optional(), 'draw a picture in place of the table');

/**
 * Whether a picture was asked for, which a command whose params hold `chartParam` takes. Errors: `usage` where a flag asks for another
 * form of output at the same time.
 */
export function chartAsked(typed: Readonly<Record<string, unknown>>, options: GlobalOptions): boolean {
  if (typed['chart'] !== true) return false;
  const rival = rivalOf(options);
  if (rival === undefined) return true;
  throw usageError(
    `--chart and ${rival} contradict each other`,
    'A picture is for people to look at: leave one of them out.',
  );
}

function rivalOf({ format, jq, plain, columns }: GlobalOptions): string | undefined {
  if (format === 'json') return '--json';
  if (format !== undefined && format !== 'table') return `--format ${format}`;
  if (jq !== undefined) return '--jq';
  if (plain) return '--plain';
  return columns === undefined ? undefined : '--columns';
}
