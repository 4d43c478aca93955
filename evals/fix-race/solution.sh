python3 - <<'END'
text = open("counter.py").read()
text = "import threading\n\n\n" + text
text = text.replace("        self.value = 0\n", "        self.value = 0\n        self._lock = threading.Lock()\n")
text = text.replace("        self.balance = balance\n", "        self.balance = balance\n        self._lock = threading.Lock()\n")
text = text.replace("        before = self.value\n        self._pause()\n        self.value = before + amount\n",
                    "        with self._lock:\n            before = self.value\n            self._pause()\n            self.value = before + amount\n")
text = text.replace("        if self.balance < amount:\n            return False\n        self._pause()\n        self.balance -= amount\n        return True\n",
                    "        with self._lock:\n            if self.balance < amount:\n                return False\n            self._pause()\n            self.balance -= amount\n            return True\n")
open("counter.py", "w").write(text)
END
