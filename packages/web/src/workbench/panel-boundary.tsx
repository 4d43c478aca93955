import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';

/** A panel that throws takes nothing with it. */
export class PanelBoundary extends Component<{ readonly children: ReactNode }, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="notice" role="alert">
        <b>This panel stopped working. The conversation goes on.</b>
        <div className="mt-2 flex gap-2">
          <Button look="line" onClick={() => this.setState({})}>
            Reload panel
          </Button>
          <Button onClick={() => void navigator.clipboard.writeText(error.stack ?? error.message)}>Copy details</Button>
        </div>
      </div>
    );
  }
}
