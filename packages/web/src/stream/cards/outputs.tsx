/** What an agent hands over at the end. */
export function Outputs({ outputs }: { readonly outputs: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(outputs);
  if (entries.length === 0) return null;
  return (
    <div className="prose">
      <ul>
        {entries.map(([name, value]) => (
          <li key={name}>
            {name === 'content' ? '' : `${name}: `}
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </li>
        ))}
      </ul>
    </div>
  );
}
