// Package recording reads watch events of pods, one JSON document per line.
package recording

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Each gives the events of a recording to use, in their order, without bookmarks.
func Each(path string, use func(watch.EventType, *corev1.Pod)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for number := 1; ; number++ {
		// A last line without an end is half written.
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var event struct {
			Type   watch.EventType
			Object *corev1.Pod
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("%s, line %d: %w", path, number, err)
		}
		if event.Type != watch.Bookmark && event.Object != nil {
			use(event.Type, event.Object)
		}
	}
}
