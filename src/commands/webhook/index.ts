import * as endpoints from '../../api/webhook.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { addAddAddresses } from './add-addresses.ts';
import { addEvents } from './events.ts';
import { addExam } from './exam.ts';
import { addForward } from './forward.ts';
import { addList } from './list.ts';
import { addListen } from './listen.ts';
import { addRegister } from './register.ts';
import { addReplay } from './replay.ts';
import { addShow } from './show.ts';
import { addSync } from './sync.ts';
import { addTrigger } from './trigger.ts';
import { addValidate } from './validate.ts';
import { addVerify } from './verify.ts';
import { deleted } from './view.ts';

export function addWebhook(webhook: Command): void {
  addRegister(webhook);
  addList(webhook);
  addAddAddresses(webhook);
  addEndpointCommand(webhook, 'delete', endpoints.remove, {
    view: deleted,
    description: 'Its addresses and its secret are lost. Asks first; needs --yes if there is no terminal.',
    confirms: ({ uid }) => `delete webhook ${uid} with its addresses and its secret`,
  });
  addValidate(webhook);
  addSync(webhook);
  addListen(webhook);
  addForward(webhook);
  addEvents(webhook);
  addShow(webhook);
  addReplay(webhook);
  addVerify(webhook);
  addTrigger(webhook);
  addExam(webhook);
}
