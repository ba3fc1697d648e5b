import { z } from 'zod';

export const webhookSchema = z.looseObject({
  destinationUrl: z.string(),
  uid: z.string(),
  secret: z.string().nullable().optional(),
});

export const webhooksSchema = z.array(webhookSchema);

export const changedSchema = z
  .looseObject({ uid: z.string().optional(), destinationUrl: z.string().optional() })
  .nullable();

export const deletedSchema = z.looseObject({}).nullable();

export const validationSchema = z.looseObject({ success: z.boolean(), error: z.string().nullable().optional() });

export type Webhook = z.output<typeof webhookSchema>;
export type WebhookList = z.output<typeof webhooksSchema>;
export type Validation = z.output<typeof validationSchema>;
