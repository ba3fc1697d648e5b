import { z } from 'zod';
import { profileSchema } from './profile-answers.ts';

export const followSchema = z.looseObject({ targetProfiles: z.array(profileSchema) });

export type FollowAnswer = z.output<typeof followSchema>;
