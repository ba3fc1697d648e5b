/** What the page of requests asks for, and what it is told. */
import type { LoggedRequest } from '../lib/logged-request.ts';
import type { ShownCommand } from './deliveries.ts';

export interface RequestRow extends Omit<LoggedRequest, 'key' | 'partner'> {
  number: number;
  /** Whose key came with it, or which command sent it. */
  by: string;
}

/** The headers and the body of a request or of its answer, what is secret hidden. */
export interface ShownMessage {
  headers: readonly { name: string; value: string }[];
  /** The first part of its bytes, in base64. */
  body: string;
  bodyBytes: number;
}

export interface ShownExchange {
  row: RequestRow;
  request: ShownMessage;
  /** `null` where none came. */
  answer: ShownMessage | null;
  /** As `sotra why` says it. */
  why: readonly (readonly [name: string, text: string])[];
  commands: readonly ShownCommand[];
  form: RequestForm;
}

/** What may be changed of a request before it is sent again. */
export interface RequestForm {
  method: string;
  /** With the names of its fields in braces. */
  path: string;
  fields: readonly RequestField[];
  /** `null` where it has none; as it is shown, also where a secret in it is hidden. */
  body: string | null;
  /** The keys that it may be sent with, the first as it was; without any it has that of the service. */
  keys: readonly (readonly [key: string, says: string])[];
  /** Whether anything but GET is asked about before it is sent: it changes what is real. */
  asksFirst: boolean;
}

export interface RequestField {
  place: 'path' | 'query';
  name: string;
  help: string;
  /** Ends "must be ...". */
  must: string;
  /** Of a list all, with commas. */
  value: string;
  isList: boolean;
  isRequired: boolean;
  /** Empty where it may be any text. */
  choices: readonly string[];
}

/** A request to send: what is absent is as it was of the one with the number. */
export interface SentRequest {
  number?: number;
  method: string;
  target?: string;
  body?: string;
  /** One of its keys. */
  key?: string;
}
