import { z } from 'zod';
import { layouts } from '../../api/formats.ts';
import { keyStores, type StoredSettings } from './settings.ts';

const contextSchema = z.object({
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  keyStore: z.enum(keyStores).optional(),
  keyOrigin: z.string().optional(),
  keySuffix: z.string().optional(),
  serviceName: z.string().optional(),
  layout: z.enum(layouts).optional(),
  wire: z.record(z.string(), z.string()).optional(),
  inbox: z.string().optional(),
  inboxCreds: z.string().optional(),
});

export const settingsSchema: z.ZodType<StoredSettings> = z.object({
  current: z.string().optional(),
  contexts: z.record(z.string(), contextSchema),
  aliases: z.record(z.string(), z.string()).optional(),
});
