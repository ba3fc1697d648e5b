import { z } from 'zod';
import { local } from '../contract/endpoint.ts';
import { hourMs, parseDuration } from '../model/duration.ts';
import { isHttpAddress } from '../model/http-address.ts';
import type { Command } from './command.ts';

type ParamOptions = Parameters<typeof local>[2];

const text = z.string().min(1).optional();
const texts = z.array(z.string().min(1)).optional();
const flag = z.boolean().optional();

/** Inputs that no command requires, and that are never sent. */
export const option = {
  text: (help: string, more?: ParamOptions) => local(text, help, more),
  texts: (help: string, more?: ParamOptions) => local(texts, help, more),
  flag: (help: string) => local(flag, help),
  /** A whole number. */
  count: (min: number, max: number, help: string) => local(z.int().min(min).max(max).optional(), help),
  /** A text that fits; `rule` says what it must be. */
  checked: (help: string, fits: (text: string) => boolean, rule: string, more?: ParamOptions) =>
    local(z.string().refine(fits, rule).optional(), help, more),
  /** A time such as these. */
  duration: (help: string, such: string) => option.checked(help, isDuration, `must be a time such as ${such}`),
};

export const isDuration = (text: string) => parseDuration(text) !== undefined;

export const httpAddress = z.string().refine(isHttpAddress, 'must be an http or https address');

const [minEveryMs, maxEveryMs] = [100, hourMs];

/** A flag that takes an interval; `bare` is the one where none is typed. */
export const intervalParam = (help: string, bare?: string) =>
  option.checked(help, isInterval, 'must be a time from 100ms to 1h, such as 5s', bare === undefined ? {} : { bare });

function isInterval(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= minEveryMs && ms <= maxEveryMs;
}

export const readInterval = (watch: string): number => parseDuration(watch) ?? minEveryMs;

/** The command with `--watch`: its table drawn again in place with what changed marked, or elsewhere what changed, one object a line. */
export function withWatch(command: Command, rowKey: NonNullable<Command['rowKey']>): Command {
  return {
    ...command,
    params: {
      ...command.params,
      watch: intervalParam('run it again this often, marking what changed; in a pipe print changes', '10s'),
    },
    rowKey,
  };
}
