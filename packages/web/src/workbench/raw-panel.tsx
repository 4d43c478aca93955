import { toJson } from '@tendon/protocol';
import { highlight } from '../code/highlight.tsx';
import { useConversation } from '../conversation/open-conversation.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/placeholder.tsx';

const MAX_LINES = 2_000;

/** One event as it is. */
export function RawPanel({ eventId }: { readonly eventId: number | undefined }) {
  const { events } = useConversation().snapshot;
  const event = events.find((one) => one.id === eventId);
  if (!event) return <Empty title="Choose an event" />;
  const lines = JSON.stringify(toJson(event), null, 2).split('\n');
  return (
    <>
      <div className="panel-bar">
        <span className="font-medium">Event {event.id}</span>
        <span className="flex-1" />
        <Button onClick={() => void navigator.clipboard.writeText(lines.join('\n'))}>Copy JSON</Button>
      </div>
      <pre className="raw">
        {lines.slice(0, MAX_LINES).map((line, index) => (
          <span key={index}>
            {highlight(line, '.json').map((piece, at) => (
              <span key={at} className={piece.look}>
                {piece.text}
              </span>
            ))}
            {'\n'}
          </span>
        ))}
      </pre>
    </>
  );
}
