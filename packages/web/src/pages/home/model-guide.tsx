import { KeyRound, Link as LinkIcon, Server } from 'lucide-react';
import { Icon } from '../../ui/icon.tsx';
import { AddressForm } from './address-form.tsx';
import { KeyForm } from './key-form.tsx';
import { LocalWay } from './local-way.tsx';

/** Only while no model is set. Nothing is chosen silently. */
export function ModelGuide() {
  return (
    <section className="guide" aria-labelledby="guide-heading">
      <header>
        <h2 id="guide-heading">You are on the demo model</h2>
        <p className="flex-1 text-ink-2">Its answers are scripted. What it does in the sandbox is real.</p>
      </header>
      <div className="guide-ways">
        <div>
          <h3>
            <Icon of={Server} small />
            Found on this machine
          </h3>
          <LocalWay />
        </div>
        <div>
          <h3>
            <Icon of={KeyRound} small />A key from a provider
          </h3>
          <p className="text-ink-2">OpenAI, Anthropic, Google and others</p>
          <KeyForm />
        </div>
        <div>
          <h3>
            <Icon of={LinkIcon} small />
            Another address
          </h3>
          <p className="text-ink-2">Anything that speaks the OpenAI API</p>
          <AddressForm />
        </div>
      </div>
    </section>
  );
}
